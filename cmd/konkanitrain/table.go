package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"konkanitrain/train"
)

// table writes one line of tab-separated values for each utterance. The zero value writes nothing.
type table struct {
	w    *bufio.Writer
	file io.Closer
}

// newTable makes the file called path; "-" is out, "" nothing.
func newTable(path string, out io.Writer) (*table, error) {
	t := &table{}
	switch path {
	case "":
		return t, nil
	case "-":
		t.w = bufio.NewWriter(out)
	default:
		f, err := os.Create(path)
		if err != nil {
			return nil, fmt.Errorf("per_utterance: %w", err)
		}
		t.w, t.file = bufio.NewWriter(f), f
	}
	_, err := t.w.WriteString("id\tword_errors\twords\tchar_errors\tchars\tloss\treference\thypothesis\tproblem\n")
	return t, err
}

func (t *table) add(h train.Hypothesis) error {
	if t.w == nil {
		return nil
	}
	problem := ""
	if h.Err != nil {
		problem = h.Err.Error()
	}
	_, err := fmt.Fprintf(t.w, "%s\t%d\t%d\t%d\t%d\t%.4f\t%s\t%s\t%s\n", oneCell(h.Utt.ID), h.Words.Errors(), h.Words.Ref,
		h.Chars.Errors(), h.Chars.Ref, h.Loss, oneCell(h.Ref), oneCell(h.Text), oneCell(problem))
	return err
}

func (t *table) close() error {
	if t.w == nil {
		return nil
	}
	err := t.w.Flush()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

// oneCell keeps what separates cells and lines out of a cell.
func oneCell(s string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

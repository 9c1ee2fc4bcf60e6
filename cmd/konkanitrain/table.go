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

// tableHead is the first line of a table.
const tableHead = "id\tword_errors\twords\tchar_errors\tchars\tloss\treference\thypothesis\tproblem\n"

// newOrTable is the problem with a file that a table would overwrite; nil if it isn't there, is empty or holds a table.
func newOrTable(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	stat, err := os.Stat(path)
	if err != nil || !stat.Mode().IsRegular() || stat.Size() == 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("per_utterance: %w", err)
	}
	defer f.Close()
	head := make([]byte, len(tableHead))
	if n, _ := io.ReadFull(f, head); string(head[:n]) != tableHead {
		return fmt.Errorf("per_utterance: %s is there and is no table of this program's, so it is not overwritten: name another file", path)
	}
	return nil
}

// table writes one line of tab-separated values for each utterance. The zero value writes nothing.
type table struct {
	path  string // of the file to make when there is something to write; "" once it is made
	w     *bufio.Writer
	file  io.Closer
	begun bool
}

// newTable is for the file called path; "-" is out, "" nothing. A file that is there stays as it is until the first
// utterance has been scored.
func newTable(path string, out io.Writer) *table {
	switch path {
	case "":
		return &table{}
	case "-":
		return &table{w: bufio.NewWriter(out)}
	}
	return &table{path: path}
}

// begin makes the file and writes the head.
func (t *table) begin() error {
	if t.path != "" {
		f, err := os.Create(t.path)
		if err != nil {
			return fmt.Errorf("per_utterance: %w", err)
		}
		t.path, t.w, t.file = "", bufio.NewWriter(f), f
	}
	_, err := t.w.WriteString(tableHead)
	return err
}

func (t *table) add(h train.Hypothesis) error {
	if t.w == nil && t.path == "" {
		return nil
	}
	if !t.begun {
		t.begun = true
		if err := t.begin(); err != nil {
			return err
		}
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

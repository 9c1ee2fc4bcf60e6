package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"konkanitrain/recognize"
)

// tableHead is the first line of a table.
const tableHead = "id\tword_errors\twords\tchar_errors\tchars\tloss\treference\thypothesis\tproblem\n"

// partial is added to a table's name until it is whole.
const partial = ".partial"

// tableOnly is the problem with a file that a table would overwrite; nil if it isn't there, is empty or holds a table.
func tableOnly(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	for _, name := range []string{path, path + partial} {
		stat, err := os.Stat(name)
		if err != nil || !stat.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("per_utterance: %w", err)
		}
		defer f.Close()
		head := make([]byte, len(tableHead))
		if n, _ := io.ReadFull(f, head); n > 0 && string(head[:n]) != tableHead {
			return fmt.Errorf("per_utterance: %s is there and is no table of this program's, so it is not overwritten: name another file", name)
		}
	}
	return nil
}

// table writes one line of tab-separated values for each utterance. The zero value writes nothing.
type table struct {
	path  string // of the file; "" without one
	w     *bufio.Writer
	file  *os.File // being written; nil before the first line
	begun bool
}

// newTable is for the file called path; "-" is out, "" nothing. A file that is there stays as it is until the new table
// is whole.
func newTable(path string, out io.Writer) *table {
	if path == "-" {
		return &table{w: bufio.NewWriter(out)}
	}
	return &table{path: path}
}

// begin makes the file and writes the head.
func (t *table) begin() error {
	if t.path != "" {
		name := t.path + partial
		if stat, err := os.Lstat(t.path); err == nil && !stat.Mode().IsRegular() {
			name = t.path // a device or a pipe can't be replaced at the end
		}
		f, err := os.Create(name)
		if err != nil {
			return fmt.Errorf("per_utterance: %w", err)
		}
		t.w, t.file = bufio.NewWriter(f), f
	}
	_, err := t.w.WriteString(tableHead)
	return err
}

func (t *table) add(h recognize.Hypothesis) error {
	if t.w == nil && t.path == "" {
		return nil
	}
	if !t.begun {
		t.begun = true
		if err := t.begin(); err != nil {
			return err
		}
	}
	problem, loss := "", fmt.Sprintf("%.4f", h.Loss)
	switch {
	case h.Err != nil:
		problem = h.Err.Error()
	case h.Infeasible:
		problem, loss = "too short for CTC", ""
	}
	_, err := fmt.Fprintf(t.w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", oneCell(h.Utt.ID), h.Words.Errors(), h.Words.Ref,
		h.Chars.Errors(), h.Chars.Ref, loss, oneCell(h.Ref), oneCell(h.Text), oneCell(problem))
	return err
}

// end finishes the table, whose making came to err. One that is not whole leaves the older file alone.
func (t *table) end(err error) error {
	if err == nil && t.w != nil {
		err = t.w.Flush()
	}
	if t.file == nil {
		return err
	}
	if e := t.file.Close(); err == nil {
		err = e
	}
	name := t.file.Name()
	switch {
	case name == t.path:
	case err == nil:
		err = os.Rename(name, t.path)
	default:
		_ = os.Remove(name) // err says more
	}
	return err
}

// oneCell keeps what separates cells and lines out of a cell.
func oneCell(s string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

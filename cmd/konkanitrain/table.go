package main

import (
	"fmt"
	"io"
	"strings"

	"konkanitrain/recognize"
)

// tableHead is the first line of a table.
const tableHead = "id\tword_errors\twords\tchar_errors\tchars\tloss\treference\thypothesis\tproblem\n"

// table has one line of tab-separated values for each utterance, and at its end those that were left out.
type table struct{ *resultFile }

// newTable is for the file called path; "-" is out, "" nothing.
func newTable(path string, out io.Writer) table {
	return table{newResultFile("per_utterance", path, tableHead, out)}
}

// add writes an utterance that was scored. Others come with the rest that was left out.
func (t table) add(h recognize.Hypothesis) error {
	if !t.wanted() || h.Err != nil {
		return nil
	}
	problem, loss := "", fmt.Sprintf("%.4f", h.Loss)
	if h.Infeasible {
		problem, loss = "too short for CTC", ""
	}
	return t.printf("%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", oneCell(h.Utt.ID), h.Words.Errors(), h.Words.Ref,
		h.Chars.Errors(), h.Chars.Ref, loss, oneCell(h.Ref), oneCell(h.Text), oneCell(problem))
}

// leftOut writes lines that were not scored, with what is wrong with them alone.
func (t table) leftOut(l leftOut) error {
	if !t.wanted() {
		return nil
	}
	for _, n := range l.notes {
		if err := t.printf("%s\t\t\t\t\t\t\t\tleft out, %s: %s\n", oneCell(n.ID), n.Kind, oneCell(n.Reason)); err != nil {
			return err
		}
	}
	for _, more := range l.more() {
		if err := t.printf("\t\t\t\t\t\t\t\tleft out: %s\n", more); err != nil {
			return err
		}
	}
	return t.begin()
}

// oneCell keeps what separates cells and lines out of a cell.
func oneCell(s string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

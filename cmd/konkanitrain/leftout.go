package main

import (
	"fmt"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/words"
)

// leftOut is what eval has not scored. Every output has it.
type leftOut struct {
	listed, scored int         // lines
	notes          []data.Note // of many of a kind the first
	report         *data.Report
}

// leftOutOf is what a report says was left out, where so many were scored.
func leftOutOf(r *data.Report, scored int) leftOut {
	l := leftOut{listed: r.Lines, scored: scored, notes: []data.Note{}, report: r}
	for _, n := range r.Notes {
		if n.Skipped {
			l.notes = append(l.notes, n)
		}
	}
	return l
}

// counts are the lines of each kind.
func (l leftOut) counts() map[string]int {
	counts := map[string]int{}
	for kind, skipped := range l.report.Sorts() {
		if skipped {
			counts[string(kind)] = l.report.CountOf(kind, true)
		}
	}
	return counts
}

// reasons counts the lines, by what was wrong with them: "2 audio can't be read, 1 empty text".
func (l leftOut) reasons() string {
	var reasons []string
	for kind, skipped := range l.report.Sorts() {
		if skipped {
			reasons = append(reasons, fmt.Sprintf("%d %s", l.report.CountOf(kind, true), kind))
		}
	}
	return strings.Join(reasons, ", ")
}

// more says of which kinds there are more lines than notes.
func (l leftOut) more() (list []string) {
	for kind, skipped := range l.report.Sorts() {
		if n := l.report.Unkept(kind, true); skipped && n > 0 {
			list = append(list, fmt.Sprintf("%s more, %s", words.Count(n, "line"), kind))
		}
	}
	return list
}

// lines are the lines, for programs.
func (l leftOut) lines() []leftOutLine {
	list := []leftOutLine{}
	for _, n := range l.notes {
		list = append(list, leftOutLine{n.File, n.Line, n.ID, string(n.Kind), n.Reason})
	}
	return list
}

// leftOutLine is a line that was not scored, for programs.
type leftOutLine struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	ID     string `json:"id"`
	Why    string `json:"why"`
	Reason string `json:"reason"`
}

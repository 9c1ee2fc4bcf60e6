package main

import (
	"fmt"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/words"
)

// leftOut is what eval has not scored. Every output has it.
type leftOut struct {
	model          string
	listed, scored int         // lines
	notes          []data.Note // of many of a kind the first
	kinds          []kindLeftOut
}

// kindLeftOut is the lines of a kind.
type kindLeftOut struct {
	name    string
	count   int
	unnoted int // of them, those without a note
}

// leftOutOf is what a report says was left out of a model's score, where so many were scored.
func leftOutOf(model string, r *data.Report, scored int) leftOut {
	l := leftOut{model: model, listed: r.Lines, scored: scored}
	for _, n := range r.Notes {
		if n.Skipped {
			l.notes = append(l.notes, n)
		}
	}
	for kind, skipped := range r.Sorts() {
		if skipped {
			l.kinds = append(l.kinds, kindLeftOut{string(kind), r.CountOf(kind, true), r.Unkept(kind, true)})
		}
	}
	return l
}

// counts are the lines of each kind.
func (l leftOut) counts() map[string]int {
	counts := map[string]int{}
	for _, k := range l.kinds {
		counts[k.name] = k.count
	}
	return counts
}

// reasons counts the lines, by what was wrong with them: "2 audio can't be read, 1 empty text".
func (l leftOut) reasons() string {
	var reasons []string
	for _, k := range l.kinds {
		reasons = append(reasons, fmt.Sprintf("%d %s", k.count, k.name))
	}
	return strings.Join(reasons, ", ")
}

// more says of which kinds there are more lines than notes.
func (l leftOut) more() (list []string) {
	for _, k := range l.kinds {
		if k.unnoted > 0 {
			list = append(list, fmt.Sprintf("%s more, %s", words.Count(k.unnoted, "line"), k.name))
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

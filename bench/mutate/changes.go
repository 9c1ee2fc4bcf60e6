package main

import (
	"bytes"
	"fmt"
	"strings"
)

// change replaces one line of a production file.
type change struct {
	Package  string `json:"package"` // import path
	File     string `json:"file"`    // relative to the module's root, with slashes
	Line     int    `json:"line"`    // from 1
	Function string `json:"function"`
	Kind     string `json:"kind"`
	Text     string `json:"text"` // the expression or statement that is replaced, and what replaces it
	ID       string `json:"id"`   // names the change by file, function and text, without the line's number
	Old      string `json:"old"`  // the whole line
	New      string `json:"new"`
}

// Kinds of changes. README.md explains them.
const (
	errorCheck = "error check"
	earlyExit  = "early exit"
	condition  = "condition"
	boundary   = "boundary"
	equality   = "equality"
	logic      = "logic"
	arithmetic = "arithmetic"
	constant   = "constant"
	statement  = "statement"
	minMax     = "min/max"
)

// apply returns the content of the change's file with the change made. The file must be as it was when it was read.
func (c change) apply(src []byte) ([]byte, error) {
	lines := bytes.Split(src, []byte("\n"))
	if c.Line > len(lines) || string(lines[c.Line-1]) != c.Old {
		return nil, fmt.Errorf("%s was edited while mutate ran: start it again", c.File)
	}
	lines[c.Line-1] = []byte(c.New)
	return bytes.Join(lines, []byte("\n")), nil
}

// identify gives each change of a file its ID. Changes of a function with the same text are told apart by the line
// above them, and where that is the same too by their number.
func identify(found []change, lines []string) {
	for i := range found {
		c := &found[i]
		c.ID = fmt.Sprintf("%s %s: %s", c.File, c.Function, c.Text)
	}
	refine(found, func(c change, _ int) string {
		for above := c.Line - 2; above >= 0; above-- {
			if text := strings.TrimSpace(lines[above]); text != "" {
				return "  below: " + text
			}
		}
		return ""
	})
	refine(found, func(_ change, number int) string { return fmt.Sprintf("  #%d", number) })
}

// refine appends what suffix says to every ID that several changes have; number counts them from 1.
func refine(found []change, suffix func(c change, number int) string) {
	count, number := map[string]int{}, map[string]int{}
	for _, c := range found {
		count[c.ID]++
	}
	for i, c := range found {
		if count[c.ID] > 1 {
			number[c.ID]++
			found[i].ID += suffix(c, number[c.ID])
		}
	}
}

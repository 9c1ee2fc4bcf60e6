package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// equivalents are the IDs of changes that somebody has judged to change no behavior.
type equivalents map[string]bool

// readEquivalents reads a file of judged equivalents. An entry is a line with a change's ID, followed by indented
// lines with the reason; empty lines and lines that start with # are skipped. Where there is no file, there are none.
func readEquivalents(path string) (equivalents, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	e := equivalents{}
	last, at := "", 0 // the entry that still needs a reason, and its line
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			last = ""
			if len(e) == 0 {
				return nil, fmt.Errorf("%s:%d: a reason without a change above it", path, i+1)
			}
		case last != "":
			return nil, noReason(path, at)
		case e[line]:
			return nil, fmt.Errorf("%s:%d: this change has an entry above already: remove one", path, i+1)
		default:
			last, at, e[line] = line, i+1, true
		}
	}
	if last != "" {
		return nil, noReason(path, at)
	}
	return e, nil
}

func noReason(path string, line int) error {
	return fmt.Errorf("%s:%d: no reason: say in an indented line below why nobody can see this change", path, line)
}

// stale returns the entries that name none of all changes: code that has been edited since.
func (e equivalents) stale(all []change) []string {
	left := maps.Clone(e)
	for _, c := range all {
		delete(left, c.ID)
	}
	return slices.Sorted(maps.Keys(left))
}

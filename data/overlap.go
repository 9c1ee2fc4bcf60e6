package data

import (
	"fmt"
	"path/filepath"
)

// Overlap warns where the sound of a validation set is in the training set as well: one line, "" if none is.
func Overlap(train, val *Set) string {
	type sound struct {
		path   string
		offset float64
	}
	of := func(u *Utterance) sound {
		path := u.Path()
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return sound{path, u.Offset}
	}
	seen := make(map[sound]*Utterance, len(train.Utterances))
	for _, u := range train.Utterances {
		seen[of(u)] = u
	}
	var first, trained *Utterance
	n := 0
	for _, u := range val.Utterances {
		if t, ok := seen[of(u)]; ok {
			if n++; n == 1 {
				first, trained = u, t
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d utterances of %s are in %s as well (the first: %s, line %d there and line %d here); "+
		"scores on them flatter the model, take them out of one list",
		n, len(val.Utterances), val.Path, train.Path, first.ID, trained.Line, first.Line)
}

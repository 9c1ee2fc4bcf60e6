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
	paths := map[*Recording]string{}
	of := func(s *Set, i int) sound {
		r, offset := s.where(i)
		path, known := paths[r]
		if !known {
			path = r.Source.Name()
			if abs, err := filepath.Abs(path); err == nil {
				path = abs
			}
			paths[r] = path
		}
		return sound{path, offset}
	}
	trained := make(map[sound]int, val.Len()) // where the sound of val is in train
	for i := range val.Len() {
		trained[of(val, i)] = -1
	}
	for i := range train.Len() {
		x := of(train, i)
		if _, ok := trained[x]; ok {
			trained[x] = i
		}
	}
	first, n := -1, 0
	for i := range val.Len() {
		if trained[of(val, i)] >= 0 {
			if n++; n == 1 {
				first = i
			}
		}
	}
	if n == 0 {
		return ""
	}
	u := val.At(first)
	other := train.At(trained[of(val, first)])
	return fmt.Sprintf("%d of %d utterances of %s are in %s as well (the first: %s, %s there and %s here); "+
		"scores on them flatter the model, take them out of one list",
		n, val.Len(), val.Path, train.Path, u.ID, lineOf(other.File, other.Line), lineOf(u.File, u.Line))
}

// where is the recording of utterance i, and from where on in it, in seconds.
func (s *Set) where(i int) (*Recording, float64) {
	if s.rows == nil {
		return s.given[i].Recording, s.given[i].Offset
	}
	p := s.rows.at(i)
	return &s.rows.found[s.rows.sounds[i]].Recording, s.rows.offset(i, &p)
}

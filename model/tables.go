package model

import (
	"sync"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Tables holds the constant tables that graphs share: the relative positions of S frames are the middle rows of those
// of any larger number, the positions of n decoder steps the first rows of those of any larger number. So one table of
// each, grown when a longer shape comes, serves all shapes.
type Tables struct {
	d        int
	mu       sync.Mutex
	longest  int
	relative []float32 // [2*longest-1, d], row c holds the sinusoid of longest-1-c
	steps    int
	absolute []float32 // [steps, d], row c holds the sinusoid of c
}

// NewTables makes tables for a model width d.
func NewTables(d int) *Tables { return &Tables{d: d} }

// Shared is the table called name with the given shape, or nil if there is none. It is never written to.
func (t *Tables) Shared(name string, shape tensor.Shape) []float32 {
	if shape.Dims() != 2 || shape[0] < 1 || shape[1] != t.d {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case name == Positions && shape[0]%2 == 1:
		s := (shape[0] + 1) / 2
		if s > t.longest {
			t.longest = max(s, 2*t.longest)
			t.relative = op.RelativeTable(t.longest, t.d)
		}
		return t.relative[(t.longest-s)*t.d:][:shape[0]*t.d]
	case name == DecoderPositions:
		if shape[0] > t.steps {
			t.steps = max(shape[0], 2*t.steps)
			t.absolute = op.Sinusoid(0, 1, t.steps, t.d)
		}
		return t.absolute[:shape[0]*t.d]
	}
	return nil
}

// Whole are the tables as they are now, those that are not empty.
func (t *Tables) Whole() (all [][]float32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, table := range [][]float32{t.relative, t.absolute} {
		if len(table) > 0 {
			all = append(all, table)
		}
	}
	return all
}

// Bytes is what the tables take.
func (t *Tables) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return 4 * int64(len(t.relative)+len(t.absolute))
}

package model

import (
	"sync"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Tables holds the constant tables that graphs share: the relative positions of S frames are the middle rows of those of
// any larger number, the positions of n decoder steps the first rows of those of any larger number. So one table of each,
// grown when a longer shape comes, serves all shapes.
type Tables struct {
	d  int
	mu sync.Mutex
	s  int
	r  []float32 // [2s-1, d], row c holds the sinusoid of s-1-c
	n  int
	t  []float32 // [n, d], row c holds the sinusoid of c
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
		if s > t.s {
			t.s = max(s, 2*t.s)
			t.r = op.RelativeTable(t.s, t.d)
		}
		return t.r[(t.s-s)*t.d:][:shape[0]*t.d]
	case name == DecoderPositions:
		if shape[0] > t.n {
			t.n = max(shape[0], 2*t.n)
			t.t = op.Sinusoid(0, 1, t.n, t.d)
		}
		return t.t[:shape[0]*t.d]
	}
	return nil
}

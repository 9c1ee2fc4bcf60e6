package model

import (
	"sync"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Tables holds the constant tables that graphs share. The relative positions of S frames are the middle rows
// of those of any larger number, so one table, grown when a longer shape comes, serves all shapes.
type Tables struct {
	d  int
	mu sync.Mutex
	s  int
	r  []float32 // [2s-1, d], row c holds the sinusoid of s-1-c
}

// NewTables makes tables for a model width d.
func NewTables(d int) *Tables { return &Tables{d: d} }

// Shared is the table called name with the given shape, or nil if there is none. It is never written to.
func (t *Tables) Shared(name string, shape tensor.Shape) []float32 {
	if name != Positions || shape.Dims() != 2 || shape[1] != t.d || shape[0]%2 == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := (shape[0] + 1) / 2
	if s > t.s {
		t.s = max(s, 2*t.s)
		t.r = op.RelativeTable(t.s, t.d)
	}
	return t.r[(t.s-s)*t.d:][:shape[0]*t.d]
}

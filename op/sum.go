package op

import "gorgonia.org/tensor"

// NewSum makes the op by which an engine computes Gorgonia's own "+" ([IsSum]), the sum of two gradients of one node.
//
//	a, b of shape -> y = a + b
func NewSum(shape tensor.Shape) *Op {
	t := Type{Shape: shape.Clone()}
	return &Op{Name: "sum", In: []Type{t, t}, Out: t, FLOPs: float64(t.Elements()), family: sum{t.Elements()}}
}

type sum struct{ n int } // elements

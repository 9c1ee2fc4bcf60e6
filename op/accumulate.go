package op

import "gorgonia.org/tensor"

// NewAccumulate makes the op that brings a gradient into the flat buffer of gradients: y = x, or with Env.Add y + x,
// for gradients whose own op can't add to its result.
//
//	x of shape -> y like x
func NewAccumulate(shape tensor.Shape) *Op {
	t := Type{Shape: shape.Clone()}
	return &Op{Name: "accumulate", In: []Type{t}, Out: t, FLOPs: float64(t.Elements()), family: accumulate{t.Elements()}}
}

type accumulate struct{ n int } // elements

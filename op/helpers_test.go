package op_test

import (
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// newRig is a graph of the op under test; flow nil is a random gradient.
func newRig(t *testing.T, build optest.Build, in []op.Array, flow *op.Array, noGradient ...int) *optest.Rig {
	t.Helper()
	r, err := optest.NewRig(build, in, flow, noGradient...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run computes nodes with the CPU's kernels.
func run(t *testing.T, r *optest.Rig, nodes ...*G.Node) []op.Tensor {
	t.Helper()
	out, err := r.Run(optest.CPU(), nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reference computes nodes by the specifications.
func reference(t *testing.T, r *optest.Rig, nodes ...*G.Node) []op.Array {
	t.Helper()
	out, err := r.Reference(nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// closeTo fails if got differs from want by more than tol times the largest value of want, anywhere.
func closeTo(t *testing.T, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	if err := optest.Close(optest.NewArray(op.Tensor{Data: got}).Data, want, tol); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// refuses fails if the graph that build writes down is accepted.
func refuses(t *testing.T, what string, build func(g *op.Graph)) {
	t.Helper()
	g := op.NewGraph()
	build(g)
	if g.Err() == nil {
		t.Errorf("%s: accepted", what)
	}
}

// padded is the values of each [B, T, ...] past the lengths of its utterances set to 0.
func padded(a op.Array, lengths []int) op.Array {
	a.Data = slices.Clone(a.Data)
	size := len(a.Data) / len(lengths)
	frame := size / a.Shape[1]
	for b, n := range lengths {
		clear(a.Data[b*size+n*frame : (b+1)*size])
	}
	return a
}

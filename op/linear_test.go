package op

import (
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
)

func linearOf(g *Graph, in []*G.Node) *G.Node {
	if len(in) == 2 {
		return g.Linear(in[0], in[1], nil)
	}
	return g.Linear(in[0], in[1], in[2])
}

func TestLinear(t *testing.T) {
	r := rng(1)
	// Sums of up to 37 products in float32: a few units in the last place of the largest.
	checkOp(t, 2e-6, linearOf, []Array{floats(r, 5, 7), floats(r, 3, 7), floats(r, 3)})
	checkOp(t, 2e-6, linearOf, []Array{floats(r, 2, 9, 37), floats(r, 21, 37), floats(r, 21)})
	checkOp(t, 2e-6, linearOf, []Array{floats(r, 1, 1, 4), floats(r, 6, 4)})
}

func TestLinearInvariance(t *testing.T) {
	r := rng(2)
	lengths := []int{1, 5, 37}
	ops := []operand{sequence(r, lengths, 24), shared(floats(r, 17, 24)), shared(floats(r, 17))}
	// Our own kernels sum over k in one order wherever a row lies. OpenBLAS's sums of some tens of float32 products end a
	// few roundings apart.
	checkInvariance(t, testkit.Products(1e-6), linearOf, ops, func(u int) int { return lengths[u] }, 6)
}

func TestLinearRefusesShapes(t *testing.T) {
	g := NewGraph()
	g.Linear(g.Input("x", 2, 3), g.Input("w", 4, 5), nil)
	if g.Err() == nil {
		t.Fatal("x [2, 3] and w [4, 5] were accepted")
	}
}

package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func residualOf(alpha float32, d Drop) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node {
		if len(in) == 2 {
			return g.Residual(in[0], alpha, in[1], nil, d)
		}
		return g.Residual(in[0], alpha, in[1], in[2], d)
	}
}

func TestResidual(t *testing.T) {
	r := rng(1)
	for _, alpha := range []float32{1, 0.5} {
		for _, in := range [][]Array{
			{floats(r, 2, 5, 60), floats(r, 2, 5, 60)},
			{floats(r, 3, 4, 50), floats(r, 3, 4, 50), keysOf(3)},
		} {
			// Three roundings, and where x and y cancel the largest value is what counts.
			checkOp(t, 3e-7, residualOf(alpha, Drop{0.2, 5}), in)
			checkKernels(t, residualOf(alpha, Drop{0.2, 5}), in)
		}
	}
}

func TestResidualInvariance(t *testing.T) {
	lengths := []int{1, 5, 40}
	ops := []operand{sequence(rng(2), lengths, 24), sequence(rng(3), lengths, 24), keysEach(3)}
	checkInvariance(t, 0, residualOf(0.5, Drop{0.1, 1}), ops, func(u int) int { return lengths[u] }, 7)
	checkInvariance(t, 0, residualOf(0.5, Drop{}), ops[:2], func(u int) int { return lengths[u] }, 7)
}

func TestResidualGradientOfXIsTheSameNode(t *testing.T) {
	g := NewGraph()
	x, y, w := g.Input("x", 2, 4), g.Input("y", 2, 4), g.Input("w", 2, 4)
	z := g.Residual(x, 0.5, y, nil, Drop{})
	grads := g.Grad(g.dot(z, w), x, y)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if grads[0] != Children(grads[1])[0] {
		t.Fatal("the gradient of x is another node than that of the sum, from which y's is computed")
	}
}

func TestResidualOfOneNodeTwice(t *testing.T) {
	checkOp(t, 3e-7, func(g *Graph, in []*G.Node) *G.Node {
		return g.Residual(in[0], 1, in[0], nil, Drop{})
	}, []Array{floats(rng(4), 2, 3)})
}

func TestResidualRefuses(t *testing.T) {
	refuses(t, "two shapes", func(g *Graph) {
		g.Residual(g.Input("x", 2, 3), 1, g.Input("y", 3, 2), nil, Drop{})
	})
	refuses(t, "a wrong probability", func(g *Graph) {
		g.Residual(g.Input("x", 2, 3), 1, g.Input("y", 2, 3), g.IntInput("keys", 2, 2), Drop{1.5, 1})
	})
}

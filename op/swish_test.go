package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func swishOf(d Drop) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node {
		if len(in) == 1 {
			return g.Swish(in[0], nil, d)
		}
		return g.Swish(in[0], in[1], d)
	}
}

func TestSwish(t *testing.T) {
	r := rng(1)
	for _, in := range [][]Array{
		{floats(r, 1, 3)},
		{floats(r, 2, 5, 60)},
		{floats(r, 3, 4, 50), keysOf(3)},
	} {
		// An exponential, a division and a few products in float32.
		checkOp(t, 5e-7, swishOf(Drop{0.2, 5}), in)
		checkKernels(t, swishOf(Drop{0.2, 5}), in)
	}
}

func TestSwishGolden(t *testing.T) {
	p := openPieces(t)
	for _, name := range []string{"swish.0", "swish.1"} { // values up to +-1000
		p.check(name, 1e-5, false, swishOf(Drop{}), []Array{p.floats(name+".x", false)}, []string{"x"}, nil, nil)
	}
}

func TestSwishInvariance(t *testing.T) {
	lengths := []int{1, 5, 40}
	ops := []operand{sequence(rng(2), lengths, 24), keysEach(3)}
	checkInvariance(t, 0, swishOf(Drop{0.1, 1}), ops, func(u int) int { return lengths[u] }, 7)
	checkInvariance(t, 0, swishOf(Drop{}), ops[:1], func(u int) int { return lengths[u] }, 7)
}

func TestSwishRefuses(t *testing.T) {
	refuses(t, "keys of another batch", func(g *Graph) {
		g.Swish(g.Input("x", 2, 3), g.IntInput("keys", 1, 2), Drop{0.5, 1})
	})
	refuses(t, "integers", func(g *Graph) { g.Swish(g.IntInput("x", 2, 3), nil, Drop{}) })
}

package op

import (
	"fmt"
	"testing"

	G "gorgonia.org/gorgonia"
)

func depthwiseOf(g *Graph, in []*G.Node) *G.Node { return g.Depthwise(in[0], in[1], in[2]) }

func TestDepthwise(t *testing.T) {
	r := rng(1)
	for _, in := range [][]Array{
		{floats(r, 1, 1, 1), floats(r, 1, 1), floats(r, 1)},
		{floats(r, 2, 9, 21), floats(r, 21, 5), floats(r, 21)},
		{floats(r, 2, 3, 16), floats(r, 16, 31), floats(r, 16)}, // fewer frames than taps on a side
		{floats(r, 1, 70, 37), floats(r, 37, 31), floats(r, 37)},
	} {
		// Sums of up to 70 products in float32.
		checkOp(t, 2e-6, depthwiseOf, in)
		checkKernels(t, depthwiseOf, in)
	}
}

func TestDepthwiseGolden(t *testing.T) {
	p := openPieces(t)
	for i := range 3 {
		name := fmt.Sprint("depthwise.", i)
		lengths := p.lengths(name + ".lengths")
		in := []Array{padded(p.floats(name+".x", false), lengths, 0), p.floats(name+".weight", false), p.floats(name+".bias", false)}
		p.check(name, 1e-5, false, depthwiseOf, in, []string{"x", "weight", "bias"}, lengths, lengths)
	}
}

// The convolution reads its padding, so it is tested behind the mask that goes before it.
func TestDepthwiseInvarianceBehindGLU(t *testing.T) {
	r := rng(2)
	lengths := []int{1, 5, 40}
	ops := []operand{
		sequence(r, lengths, 48), fixed(ints([]int{1}, 3), ints([]int{1}, 20), ints([]int{1}, 157)),
		shared(floats(r, 24, 15)), shared(floats(r, 24)),
	}
	checkInvariance(t, 0, func(g *Graph, in []*G.Node) *G.Node {
		return g.Depthwise(g.GLU(in[0], in[1], 4), in[2], in[3])
	}, ops, func(u int) int { return lengths[u] }, 7)
}

func TestDepthwiseRefuses(t *testing.T) {
	refuses(t, "an even kernel", func(g *Graph) {
		g.Depthwise(g.Input("x", 2, 3, 4), g.Input("w", 4, 6), g.Input("b", 4))
	})
	refuses(t, "kernels of other channels", func(g *Graph) {
		g.Depthwise(g.Input("x", 2, 3, 4), g.Input("w", 3, 5), g.Input("b", 4))
	})
	refuses(t, "a bias of other channels", func(g *Graph) {
		g.Depthwise(g.Input("x", 2, 3, 4), g.Input("w", 4, 5), g.Input("b", 5))
	})
}

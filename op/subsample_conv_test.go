package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func subsampleConvOf(g *Graph, in []*G.Node) *G.Node {
	return g.SubsampleConv(in[0], in[1], in[2], in[3])
}

func TestSubsampleConv(t *testing.T) {
	r := rng(1)
	for _, in := range [][]Array{
		{floats(r, 1, 1, 1), floats(r, 1, 1, 3, 3), floats(r, 1), ints([]int{1}, 1)},
		{floats(r, 3, 9, 7), floats(r, 5, 1, 3, 3), floats(r, 5), ints([]int{3}, 9, 4, 0)},
		{floats(r, 2, 10, 8), floats(r, 16, 1, 3, 3), floats(r, 16), ints([]int{2}, 5, 1000)}, // more than there are
		{floats(r, 1, 41, 80), floats(r, 8, 1, 3, 3), floats(r, 8), ints([]int{1}, 41)},       // several steps
	} {
		// Nine products, and sums over up to 840 outputs, in float32.
		checkOp(t, 3e-6, subsampleConvOf, in)
		checkKernels(t, subsampleConvOf, in)
	}
}

func TestSubsampleConvGolden(t *testing.T) {
	p := openPieces(t)
	const name = "subsample_conv.0"
	lengths, outLengths := p.lengths(name+".lengths"), p.lengths(name+".out_lengths")
	b := []Array{p.floats(name+".x", false), p.floats(name+".weight", false), p.floats(name+".bias", false), lengthsOf(lengths)}
	// x has no channels to swap, so its gradient is compared apart from the result, whose layout differs.
	dout := p.floats(name+".dout", true)
	bench := newBench(t, subsampleConvOf, b, &dout)
	got := bench.run(t, append(G.Nodes{bench.out}, bench.grads...)...)
	closeTo(t, "out", padded(got[0].array(), outLengths, 0).tensor().Data, p.floats(name+".out", true).Data, 1e-5)
	for i, n := range []string{"x", "weight", "bias"} {
		closeTo(t, "grad."+n, got[i+1].Data, p.floats(name+".grad."+n, false).Data, 1e-5)
	}
}

func TestSubsampleConvInvariance(t *testing.T) {
	r := rng(2)
	lengths := []int{1, 8, 43}
	ops := []operand{
		sequence(r, lengths, 10), shared(floats(r, 12, 1, 3, 3)), shared(floats(r, 12)),
		fixed(ints([]int{1}, 1), ints([]int{1}, 8), ints([]int{1}, 43)),
	}
	checkInvariance(t, 0, subsampleConvOf, ops, func(u int) int { return (lengths[u] + 1) / 2 }, 7)
}

func TestSubsampleConvIgnoresPadding(t *testing.T) {
	r := rng(3)
	in := []Array{floats(r, 4, 9, 10), floats(r, 6, 1, 3, 3), floats(r, 6), ints([]int{4}, 1, 4, 9, 0)}
	checkPadding(t, subsampleConvOf, in, []int{1, 4, 9, 0})
}

func TestSubsampleConvRefuses(t *testing.T) {
	refuses(t, "a kernel of 5×5", func(g *Graph) {
		g.SubsampleConv(g.Input("x", 2, 3, 4), g.Input("w", 4, 1, 5, 5), g.Input("b", 4), g.IntInput("n", 2))
	})
	refuses(t, "a bias of other channels", func(g *Graph) {
		g.SubsampleConv(g.Input("x", 2, 3, 4), g.Input("w", 4, 1, 3, 3), g.Input("b", 3), g.IntInput("n", 2))
	})
	refuses(t, "lengths of another batch", func(g *Graph) {
		g.SubsampleConv(g.Input("x", 2, 3, 4), g.Input("w", 4, 1, 3, 3), g.Input("b", 4), g.IntInput("n", 3))
	})
}

func BenchmarkSubsampleConv(b *testing.B) {
	r := rng(1) // 8 s of audio
	in := []Array{floats(r, 1, 800, 80), floats(r, 64, 1, 3, 3), floats(r, 64), ints([]int{1}, 800)}
	benchmark(b, subsampleConvOf, in)
}

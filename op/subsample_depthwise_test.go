package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func subsampleDepthwiseOf(factor int) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node {
		return g.SubsampleDepthwise(in[0], in[1], in[2], in[3], factor)
	}
}

func TestSubsampleDepthwise(t *testing.T) {
	r := rng(1)
	for _, in := range [][]Array{
		{floats(r, 1, 1, 1, 1), floats(r, 1, 1, 3, 3), floats(r, 1), ints([]int{1}, 1)},
		{floats(r, 3, 9, 7, 5), floats(r, 5, 1, 3, 3), floats(r, 5), ints([]int{3}, 17, 7, 0)},
		{floats(r, 2, 10, 8, 35), floats(r, 35, 1, 3, 3), floats(r, 35), ints([]int{2}, 9, 1000)}, // more than there are
	} {
		// Nine products, and sums over up to 25 outputs, in float32.
		checkOp(t, 2e-6, subsampleDepthwiseOf(2), in)
		checkKernels(t, subsampleDepthwiseOf(2), in)
	}
}

// The golden case has the pointwise convolution and the ReLU after it: a whole stage.
func TestSubsampleStageGolden(t *testing.T) {
	p := openPieces(t)
	const name = "subsample_depthwise.0"
	lengths, outLengths := p.lengths(name+".lengths"), p.lengths(name+".out_lengths")
	in := []Array{
		p.floats(name+".x", true), p.floats(name+".weight", false), p.floats(name+".bias", false),
		p.floats(name+".pointwise_weight", false), p.floats(name+".pointwise_bias", false), lengthsOf(lengths),
	}
	p.check(name, 1e-5, true, func(g *Graph, in []*G.Node) *G.Node {
		y := g.SubsampleDepthwise(in[0], in[1], in[2], in[5], 1)
		return g.Relu(g.Linear(y, in[3], in[4]))
	}, in, []string{"x", "weight", "bias", "pointwise_weight", "pointwise_bias", ""}, lengths, outLengths)
}

func TestSubsampleDepthwiseInvariance(t *testing.T) {
	r := rng(2)
	lengths := []int{1, 8, 21}
	ops := []operand{
		sequence(r, lengths, 6, 12), shared(floats(r, 12, 1, 3, 3)), shared(floats(r, 12)),
		fixed(ints([]int{1}, 1), ints([]int{1}, 15), ints([]int{1}, 42)),
	}
	checkInvariance(t, 0, subsampleDepthwiseOf(2), ops, func(u int) int { return (lengths[u] + 1) / 2 }, 7)
}

func TestSubsampleDepthwiseIgnoresPadding(t *testing.T) {
	r := rng(3)
	in := []Array{floats(r, 4, 9, 5, 6), floats(r, 6, 1, 3, 3), floats(r, 6), ints([]int{4}, 1, 4, 9, 0)}
	checkPadding(t, subsampleDepthwiseOf(1), in, []int{1, 4, 9, 0})
}

func TestSubsampleDepthwiseRefuses(t *testing.T) {
	refuses(t, "kernels of other channels", func(g *Graph) {
		g.SubsampleDepthwise(g.Input("x", 2, 3, 4, 5), g.Input("w", 4, 1, 3, 3), g.Input("b", 5), g.IntInput("n", 2), 2)
	})
	refuses(t, "a factor of 0", func(g *Graph) {
		g.SubsampleDepthwise(g.Input("x", 2, 3, 4, 5), g.Input("w", 5, 1, 3, 3), g.Input("b", 5), g.IntInput("n", 2), 0)
	})
}

func BenchmarkSubsampleDepthwise(b *testing.B) {
	r := rng(1) // 8 s of audio
	in := []Array{floats(r, 1, 400, 40, 64), floats(r, 64, 1, 3, 3), floats(r, 64), ints([]int{1}, 800)}
	benchmark(b, subsampleDepthwiseOf(2), in)
}

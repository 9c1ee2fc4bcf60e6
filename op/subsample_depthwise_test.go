package op_test

import (
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// The golden case has the pointwise convolution and the ReLU after it: a whole stage.
func TestSubsampleStageGolden(t *testing.T) {
	p := openPieces(t)
	const name = "subsample_depthwise.0"
	lengths, outLengths := p.lengths(name+".lengths"), p.lengths(name+".out_lengths")
	in := []op.Array{
		p.floats(name+".x", true), p.floats(name+".weight", false), p.floats(name+".bias", false),
		p.floats(name+".pointwise_weight", false), p.floats(name+".pointwise_bias", false), lengthsOf(lengths),
	}
	p.check(name, 1e-5, true, func(g *op.Graph, in []*G.Node) *G.Node {
		y := g.SubsampleDepthwise(in[0], in[1], in[2], in[5], 1)
		return g.Relu(g.Linear(y, in[3], in[4]))
	}, in, []string{"x", "weight", "bias", "pointwise_weight", "pointwise_bias", ""}, lengths, outLengths)
}

func TestSubsampleDepthwiseRefuses(t *testing.T) {
	refuses(t, "kernels of other channels", func(g *op.Graph) {
		g.SubsampleDepthwise(g.Input("x", 2, 3, 4, 5), g.Input("w", 4, 1, 3, 3), g.Input("b", 5), g.IntInput("n", 2), 2)
	})
	refuses(t, "a factor of 0", func(g *op.Graph) {
		g.SubsampleDepthwise(g.Input("x", 2, 3, 4, 5), g.Input("w", 5, 1, 3, 3), g.Input("b", 5), g.IntInput("n", 2), 0)
	})
}

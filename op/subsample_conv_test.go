package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestSubsampleConvGolden(t *testing.T) {
	p := openPieces(t)
	const name = "subsample_conv.0"
	lengths, outLengths := p.lengths(name+".lengths"), p.lengths(name+".out_lengths")
	b := []op.Array{p.floats(name+".x", false), p.floats(name+".weight", false), p.floats(name+".bias", false), lengthsOf(lengths)}
	// x has no channels to swap, so its gradient is compared apart from the result, whose layout differs.
	dout := p.floats(name+".dout", true)
	bench := newRig(t, optest.BuildSubsampleConv, b, &dout)
	got := run(t, bench, bench.Results()...)
	p.close("out", padded(optest.NewArray(got[0]), outLengths), p.floats(name+".out", true), 1e-5)
	for i, n := range []string{"x", "weight", "bias"} {
		closeTo(t, "grad."+n, got[i+1].Data, p.floats(name+".grad."+n, false).Data, 1e-5)
	}
}

func TestSubsampleConvRefuses(t *testing.T) {
	refuses(t, "a kernel of 5×5", func(g *op.Graph) {
		g.SubsampleConv(g.Input("x", 2, 3, 4), g.Input("w", 4, 1, 5, 5), g.Input("b", 4), g.IntInput("n", 2))
	})
	refuses(t, "a bias of other channels", func(g *op.Graph) {
		g.SubsampleConv(g.Input("x", 2, 3, 4), g.Input("w", 4, 1, 3, 3), g.Input("b", 3), g.IntInput("n", 2))
	})
	refuses(t, "lengths of another batch", func(g *op.Graph) {
		g.SubsampleConv(g.Input("x", 2, 3, 4), g.Input("w", 4, 1, 3, 3), g.Input("b", 4), g.IntInput("n", 3))
	})
}

package op_test

import (
	"fmt"
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestDepthwiseGolden(t *testing.T) {
	p := openPieces(t)
	for i := range 3 {
		name := fmt.Sprint("depthwise.", i)
		lengths := p.lengths(name + ".lengths")
		in := []op.Array{padded(p.floats(name+".x", false), lengths), p.floats(name+".weight", false), p.floats(name+".bias", false)}
		p.check(name, 1e-5, false, optest.BuildDepthwise, in, []string{"x", "weight", "bias"}, lengths, lengths)
	}
}

func TestDepthwiseRefuses(t *testing.T) {
	refuses(t, "an even kernel", func(g *op.Graph) {
		g.Depthwise(g.Input("x", 2, 3, 4), g.Input("w", 4, 6), g.Input("b", 4))
	})
	refuses(t, "kernels of other channels", func(g *op.Graph) {
		g.Depthwise(g.Input("x", 2, 3, 4), g.Input("w", 3, 5), g.Input("b", 4))
	})
	refuses(t, "a bias of other channels", func(g *op.Graph) {
		g.Depthwise(g.Input("x", 2, 3, 4), g.Input("w", 4, 5), g.Input("b", 5))
	})
}

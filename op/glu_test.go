package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// The golden case has no batch dimension: it is one utterance.
func TestGLUGolden(t *testing.T) {
	p := openPieces(t)
	p.single = true
	x := p.floats("glu.0.x", false)
	p.check("glu.0", 1e-5, false, optest.BuildGLU(1), []op.Array{x, optest.Lengths(int32(x.Shape[1]))}, []string{"x", ""}, nil, nil)
}

func TestGLURefuses(t *testing.T) {
	refuses(t, "an odd width", func(g *op.Graph) { g.GLU(g.Input("x", 2, 3, 5), g.IntInput("n", 2), 4) })
	refuses(t, "lengths of another batch", func(g *op.Graph) { g.GLU(g.Input("x", 2, 3, 4), g.IntInput("n", 3), 4) })
	refuses(t, "a factor of 3", func(g *op.Graph) { g.GLU(g.Input("x", 2, 3, 4), g.IntInput("n", 2), 3) })
}

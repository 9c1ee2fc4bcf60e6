package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestSwishGolden(t *testing.T) {
	p := openPieces(t)
	for _, name := range []string{"swish.0", "swish.1"} { // values up to +-1000
		p.check(name, 1e-5, false, optest.BuildSwish(op.Drop{}), []op.Array{p.floats(name+".x", false)}, []string{"x"}, nil, nil)
	}
}

func TestSwishRefuses(t *testing.T) {
	refuses(t, "keys of another batch", func(g *op.Graph) {
		g.Swish(g.Input("x", 2, 3), g.IntInput("seeds", 1, 2), op.Drop{P: 0.5, Site: 1})
	})
	refuses(t, "integers", func(g *op.Graph) { g.Swish(g.IntInput("x", 2, 3), nil, op.Drop{}) })
}

package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestLayerNormGolden(t *testing.T) {
	p := openPieces(t)
	for name, tol := range map[string]float64{
		"layernorm.0": 1e-5,
		"layernorm.1": 1e-5, // small values: eps matters
		"layernorm.2": 1e-4, // an offset of 100: x itself is rounded
	} {
		in := []op.Array{p.floats(name+".x", false), p.floats(name+".weight", false), p.floats(name+".bias", false)}
		p.check(name, tol, false, optest.BuildLayerNorm, in, []string{"x", "weight", "bias"}, nil, nil)
	}
}

func TestLayerNormRefuses(t *testing.T) {
	refuses(t, "gamma of another width", func(g *op.Graph) {
		g.LayerNorm(g.Input("x", 2, 3), g.Input("gamma", 2), g.Input("beta", 2))
	})
	refuses(t, "beta of another width", func(g *op.Graph) {
		g.LayerNorm(g.Input("x", 2, 3), g.Input("gamma", 3), g.Input("beta", 2))
	})
}

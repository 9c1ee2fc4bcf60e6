package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func layerNormOf(g *Graph, in []*G.Node) *G.Node { return g.LayerNorm(in[0], in[1], in[2]) }

func TestLayerNorm(t *testing.T) {
	r := rng(1)
	for _, in := range [][]Array{
		{floats(r, 5, 7), floats(r, 7), floats(r, 7)},
		{floats(r, 2, 9, 61), floats(r, 61), floats(r, 61)},
		{floats(r, 1, 1, 192), floats(r, 192), floats(r, 192)},
		{floats(r, 300, 16), floats(r, 16), floats(r, 16)},
	} {
		// Moments of up to 192 values, and sums over up to 300 rows, in float32.
		checkOp(t, 2e-6, layerNormOf, in)
		checkKernels(t, layerNormOf, in)
	}
}

func TestLayerNormGolden(t *testing.T) {
	p := openPieces(t)
	for name, tol := range map[string]float64{
		"layernorm.0": 1e-5,
		"layernorm.1": 1e-5, // small values: eps matters
		"layernorm.2": 1e-4, // an offset of 100: x itself is rounded
	} {
		in := []Array{p.floats(name+".x", false), p.floats(name+".weight", false), p.floats(name+".bias", false)}
		p.check(name, tol, false, layerNormOf, in, []string{"x", "weight", "bias"}, nil, nil)
	}
}

func TestLayerNormInvariance(t *testing.T) {
	r := rng(2)
	lengths := []int{1, 5, 40}
	ops := []operand{sequence(r, lengths, 24), shared(floats(r, 24)), shared(floats(r, 24))}
	checkInvariance(t, 0, layerNormOf, ops, func(u int) int { return lengths[u] }, 7)
}

func TestLayerNormRefuses(t *testing.T) {
	refuses(t, "gamma of another width", func(g *Graph) {
		g.LayerNorm(g.Input("x", 2, 3), g.Input("gamma", 2), g.Input("beta", 2))
	})
	refuses(t, "beta of another width", func(g *Graph) {
		g.LayerNorm(g.Input("x", 2, 3), g.Input("gamma", 3), g.Input("beta", 2))
	})
}

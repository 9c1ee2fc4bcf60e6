package op

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layerNormEps is added to the variance.
const layerNormEps = 1e-5

// LayerNorm normalizes over the last dimension: with mean m and population variance v of a row of x,
//
//	h = (x-m)/sqrt(v+1e-5)    y = h*gamma + beta
//	x [..., D], gamma, beta [D] -> y like x
//	dx = (g - mean(g) - h*mean(g*h))/sqrt(v+1e-5),  g = dy*gamma
//	dgamma = the column sums of dy*h    dbeta = the column sums of dy
//
// (Ba, Kiros and Hinton 2016.) A row depends on nothing but itself.
func (g *Graph) LayerNorm(x, gamma, beta *G.Node) *G.Node { return g.add(newLayerNorm, x, gamma, beta) }

// layerNormShape: n rows of d in all, of b utterances.
type layerNormShape struct{ b, n, d int }

func layerNormOf(s tensor.Shape) layerNormShape {
	b, each := utterances(s)
	return layerNormShape{b, b * each, last(s)}
}

type (
	layerNorm     struct{ layerNormShape }
	layerNormGrad struct{ layerNormShape }
)

func newLayerNorm(in []Type) (*Op, error) {
	if in[0].Of != Float32 || in[0].Shape.Dims() < 1 || !isVector(in[1], last(in[0].Shape)) || !same(in[1], in[2]) {
		return nil, want("layernorm", "[..., D], [D], [D]", in)
	}
	s := layerNormOf(in[0].Shape)
	return &Op{
		Name: "layernorm", Out: Type{Shape: in[0].Shape.Clone()}, FLOPs: 8 * float64(s.n*s.d), family: layerNorm{s},
		wrt: []bool{true, true, true},
		grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
			return g.unpackLike(g.add(newLayerNormGrad, in[0], in[1], dy), in...)
		},
	}, nil
}

// newLayerNormGrad is [dx | dgamma | dbeta]: x [..., D], gamma [D], dy like x -> [n*D + 2*D] of n rows.
func newLayerNormGrad(in []Type) (*Op, error) {
	s := layerNormOf(in[0].Shape)
	return &Op{
		Name: "layernorm.grad", Out: Type{Shape: []int{s.n*s.d + 2*s.d}}, FLOPs: 20 * float64(s.n*s.d), family: layerNormGrad{s},
	}, nil
}

package op

import G "gorgonia.org/gorgonia"

// layerNormEps is added to the variance.
const layerNormEps = 1e-5

// LayerNorm normalises over the last dimension: with mean m and population variance v of a row of x,
//
//	h = (x-m)/sqrt(v+1e-5)    y = h*gamma + beta
//	x [..., D], gamma, beta [D] -> y like x
//	dx = (g - mean(g) - h*mean(g*h))/sqrt(v+1e-5),  g = dy*gamma
//	dgamma = the column sums of dy*h    dbeta = the column sums of dy
//
// (Ba, Kiros and Hinton 2016.) A row depends on nothing but itself.
func (g *Graph) LayerNorm(x, gamma, beta *G.Node) *G.Node { return g.add(layerNorm, x, gamma, beta) }

func layerNorm(in []Type) (*Op, error) {
	if in[0].Int || in[0].Shape.Dims() < 1 || !isVector(in[1], last(in[0].Shape)) || !same(in[1], in[2]) {
		return nil, want("layernorm", "[..., D], [D], [D]", in)
	}
	n, d := rows(in[0].Shape), last(in[0].Shape)
	return &Op{
		Name: "layernorm", Out: in[0].Shape.Clone(), InPlace: []int{0},
		Run: layerNormCPU(n, d), Ref: layerNormRef(n, d), FLOPs: 8 * float64(n*d),
		wrt: []bool{true, true, true},
		grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
			b := behind(dy)
			packed := b.add(layerNormGrad, in[0], in[1], dy)
			return b.unpackLike(packed, in...), b.err
		},
	}, nil
}

// layerNormGrad is [dx | dgamma | dbeta]: x [..., D], gamma [D], dy like x -> [n*D + 2*D] of n rows.
func layerNormGrad(in []Type) (*Op, error) {
	n, d := rows(in[0].Shape), last(in[0].Shape)
	return &Op{
		Name: "layernorm.grad", Out: []int{n*d + 2*d},
		Run: layerNormGradCPU(n, d), Ref: layerNormGradRef(n, d), FLOPs: 20 * float64(n*d),
	}, nil
}

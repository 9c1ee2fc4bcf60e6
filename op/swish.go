package op

import G "gorgonia.org/gorgonia"

// Swish is y = drop(x*sigmoid(x)), with drop as in [Graph.Dropout]; seeds nil or d.P 0: without it.
//
//	x [B, ...], seeds [B, 2] int or nil -> y like x
//	dx = drop(dy) * s*(1 + x*(1-s)),  s = sigmoid(x)
//
// (Ramachandran, Zoph and Le 2017, with beta = 1; also known as SiLU.)
func (g *Graph) Swish(x, seeds *G.Node, d Drop) *G.Node {
	if !d.on(seeds) {
		return g.add(newSwish(Drop{}), x)
	}
	return g.add(newSwish(d), x, seeds)
}

// swishShape is what forward and backward need. Without dropout there are no seeds among the operands.
type swishShape struct {
	batch, elements int // elements of an utterance
	d               Drop
}

type (
	swish     struct{ swishShape }
	swishGrad struct{ swishShape }
)

func newSwish(d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if in[0].Of != Float32 || in[0].Shape.Dims() < 1 || len(in) == 2 && !isSeeds(in[1], in[0]) {
			return nil, want("swish", "[B, ...], [B, 2] int", in)
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		s := swishShape{in[0].Shape[0], in[0].Elements() / in[0].Shape[0], d}
		return &Op{
			Name: "swish", Params: d.String(), Out: Type{Shape: in[0].Shape.Clone()},
			FLOPs: 10 * float64(in[0].Elements()), family: swish{s},
			wrt: []bool{true, false}[:len(in)],
			grad: func(g *Graph, in G.Nodes, _, dy *G.Node) G.Nodes {
				dx := g.add(newSwishGrad(s), append(G.Nodes{in[0], dy}, in[1:]...)...)
				return G.Nodes{dx, nil}[:len(in)]
			},
		}, nil
	}
}

// newSwishGrad is dx: x, dy [B, ...], seeds [B, 2] int or absent -> like x.
func newSwishGrad(s swishShape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		return &Op{
			Name: "swish.grad", Params: s.d.String(), Out: Type{Shape: in[0].Shape.Clone()},
			FLOPs: 14 * float64(in[0].Elements()), family: swishGrad{s},
		}, nil
	}
}

package op

import G "gorgonia.org/gorgonia"

// Swish is y = drop(x*sigmoid(x)), with drop as in [Graph.Dropout]; keys nil or d.P 0: without it.
//
//	x [B, ...], keys [B, 2] int or nil -> y like x
//	dx = drop(dy) * s*(1 + x*(1-s)),  s = sigmoid(x)
//
// (Ramachandran, Zoph and Le 2017, with beta = 1; also known as SiLU.)
func (g *Graph) Swish(x, keys *G.Node, d Drop) *G.Node {
	if !d.on(keys) {
		return g.add(swish(Drop{}), x)
	}
	return g.add(swish(d), x, keys)
}

func swish(d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if in[0].Int || in[0].Shape.Dims() < 1 || len(in) == 2 && !isKeys(in[1], in[0]) {
			return nil, want("swish", "[B, ...], [B, 2] int", in)
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		batch := in[0].Shape[0]
		return &Op{
			Name: "swish", Params: d.String(), Out: in[0].Shape.Clone(), InPlace: []int{0},
			Run: swishCPU(batch, d), Ref: swishRef(batch, d), FLOPs: 10 * float64(Size(in[0].Shape)),
			wrt: []bool{true, false}[:len(in)],
			grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
				dx, err := build(swishGrad(d), append(G.Nodes{in[0], dy}, in[1:]...)...)
				return G.Nodes{dx, nil}[:len(in)], err
			},
		}, nil
	}
}

// swishGrad is dx: x, dy [B, ...], keys [B, 2] int or absent -> like x.
func swishGrad(d Drop) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		batch := in[0].Shape[0]
		return &Op{
			Name: "swish.grad", Params: d.String(), Out: in[0].Shape.Clone(), InPlace: []int{1, 0},
			Run: swishGradCPU(batch, d), Ref: swishGradRef(batch, d), FLOPs: 14 * float64(Size(in[0].Shape)),
		}, nil
	}
}

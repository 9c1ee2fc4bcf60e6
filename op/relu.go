package op

import G "gorgonia.org/gorgonia"

// Relu is y = max(x, 0), element by element.
//
//	x [...] -> y like x
//	dx = dy where y > 0, else 0: the gradient reads y, so y may take the place of x
func (g *Graph) Relu(x *G.Node) *G.Node { return g.add(newRelu, x) }

type (
	relu     struct{ n int } // elements
	reluGrad struct{ n int }
)

func newRelu(in []Type) (*Op, error) {
	if in[0].Of != Float32 {
		return nil, want("relu", "[...]", in)
	}
	return &Op{
		Name: "relu", Out: Type{Shape: in[0].Shape.Clone()}, FLOPs: float64(in[0].Elements()), family: relu{in[0].Elements()},
		wrt: []bool{true},
		grad: func(g *Graph, _ G.Nodes, y, dy *G.Node) G.Nodes {
			return G.Nodes{g.add(newReluGrad, y, dy)}
		},
	}, nil
}

// newReluGrad is dx: y, dy [...] -> like y.
func newReluGrad(in []Type) (*Op, error) {
	if !same(in[0], in[1]) {
		return nil, want("relu.grad", "[...], the same", in)
	}
	return &Op{
		Name: "relu.grad", Out: Type{Shape: in[0].Shape.Clone()}, FLOPs: float64(in[0].Elements()), family: reluGrad{in[0].Elements()},
	}, nil
}

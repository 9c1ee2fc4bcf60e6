package op

import G "gorgonia.org/gorgonia"

// Relu is y = max(x, 0), element by element.
//
//	x [...] -> y like x
//	dx = dy where y > 0, else 0: the gradient reads y, so y may take the place of x
func (g *Graph) Relu(x *G.Node) *G.Node { return g.add(relu, x) }

func relu(in []Type) (*Op, error) {
	if in[0].Int {
		return nil, want("relu", "[...]", in)
	}
	return &Op{
		Name: "relu", Out: in[0].Shape.Clone(), InPlace: []int{0},
		Run: reluCPU, Ref: reluRef, FLOPs: float64(Size(in[0].Shape)),
		wrt: []bool{true},
		grad: func(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
			dx, err := build(reluGrad, y, dy)
			return G.Nodes{dx}, err
		},
	}, nil
}

// reluGrad is dx: y, dy [...] -> like y.
func reluGrad(in []Type) (*Op, error) {
	if !same(in[0], in[1]) {
		return nil, want("relu.grad", "[...], the same", in)
	}
	return &Op{
		Name: "relu.grad", Out: in[0].Shape.Clone(), InPlace: []int{1, 0},
		Run: reluGradCPU, Ref: reluGradRef, FLOPs: float64(Size(in[0].Shape)),
	}, nil
}

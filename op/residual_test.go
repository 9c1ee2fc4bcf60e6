package op_test

import (
	"errors"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

func TestResidualGradientOfXIsTheSameNode(t *testing.T) {
	g := op.NewGraph()
	x, y, dz := g.Input("x", 2, 4), g.Input("y", 2, 4), g.Input("dz", 2, 4)
	z := g.Residual(x, 0.5, y, nil, op.Drop{})
	grads, err := G.Backpropagate(G.Nodes{z}, G.Nodes{dz}, G.Nodes{x, y})
	if err = errors.Join(g.Err(), err); err != nil {
		t.Fatal(err)
	}
	if grads[0] != dz || dz != op.Children(grads[1])[0] {
		t.Fatal("the gradient of x is another node than that of the sum, from which y's is computed")
	}
}

func TestResidualRefuses(t *testing.T) {
	refuses(t, "two shapes", func(g *op.Graph) {
		g.Residual(g.Input("x", 2, 3), 1, g.Input("y", 3, 2), nil, op.Drop{})
	})
	refuses(t, "a wrong probability", func(g *op.Graph) {
		g.Residual(g.Input("x", 2, 3), 1, g.Input("y", 2, 3), g.IntInput("seeds", 2, 2), op.Drop{P: 1.5, Site: 1})
	})
}

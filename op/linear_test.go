package op_test

import (
	"testing"

	"konkanitrain/op"
)

func TestLinearRefusesShapes(t *testing.T) {
	refuses(t, "x [2, 3] and w [4, 5]", func(g *op.Graph) { g.Linear(g.Input("x", 2, 3), g.Input("w", 4, 5), nil) })
	refuses(t, "a bias of another width", func(g *op.Graph) { g.Linear(g.Input("x", 2, 3), g.Input("w", 4, 3), g.Input("b", 3)) })
	refuses(t, "integers", func(g *op.Graph) { g.Linear(g.IntInput("x", 2, 3), g.Input("w", 4, 3), nil) })
	refuses(t, "a scalar", func(g *op.Graph) { g.Linear(g.Input("x"), g.Input("w", 4, 3), nil) })
}

package op_test

import (
	"strings"
	"testing"

	"konkanitrain/op"
)

// An input's name is its identity to Gorgonia, so each is used once, whatever the type and the shape are.
func TestInputNamesAreUnique(t *testing.T) {
	for name, build := range map[string]func(g *op.Graph){
		`"x" is there already`: func(g *op.Graph) { g.Input("x", 2, 3); g.Input("x", 2, 3) },
		`"y" is there already`: func(g *op.Graph) { g.Input("y", 2, 3); g.Input("y", 3, 2) },
		`"z" is there already`: func(g *op.Graph) { g.Input("z", 2, 3); g.IntInput("z", 2, 3) },
		"give it a name":       func(g *op.Graph) { g.Input("", 2, 3) },
	} {
		g := op.NewGraph()
		build(g)
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %s in: %v", name, err)
		}
	}
	g := op.NewGraph()
	if g.Input("x", 2, 3); g.IntInput("y", 2, 3) == nil || g.Err() != nil {
		t.Error(g.Err())
	}
}

// An operand of another graph is an error of the graph, not a panic.
func TestOperandsOfAnotherGraph(t *testing.T) {
	g, other := op.NewGraph(), op.NewGraph()
	if n := g.Residual(g.Input("x", 2, 3), 1, other.Input("y", 2, 3), nil, op.Drop{}); n != nil || g.Err() == nil {
		t.Fatalf("%v, %v", n, g.Err())
	}
	if want := "adding residual"; !strings.Contains(g.Err().Error(), want) {
		t.Errorf("%v, want %s", g.Err(), want)
	}
}

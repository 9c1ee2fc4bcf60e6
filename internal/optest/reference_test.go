package optest

import (
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// The specification of a graph with an op of somebody else's is an error, wherever in the graph that op stands.
func TestReferenceOfAnotherOp(t *testing.T) {
	g := op.NewGraph()
	x := g.Input("x", 2, 3)
	sine, err := G.Sin(x)
	if err != nil {
		t.Fatal(err)
	}
	feeds := map[*G.Node]op.Array{x: {Shape: x.Shape(), Data: make([]float64, 6)}}
	for _, n := range []*G.Node{sine, g.Relu(sine)} {
		if out, err := Reference(feeds, n); err == nil || !strings.Contains(err.Error(), "sin") {
			t.Errorf("%v, %v", out, err)
		}
	}
}

package op

import (
	"testing"

	G "gorgonia.org/gorgonia"
)

func TestTotal(t *testing.T) {
	r := rng(61)
	both := func(weight float64) func(g *Graph, in []*G.Node) *G.Node {
		return func(g *Graph, in []*G.Node) *G.Node { return g.Total(in[0], in[1], in[2], weight) }
	}
	one := func(g *Graph, in []*G.Node) *G.Node { return g.Total(in[0], nil, in[1], 0.3) }
	scale := Array{Data: []float64{0.125}, Shape: []int{1}}
	// Summed in float64 and rounded once. Equal weights give both losses one gradient node.
	for _, weight := range []float64{0.3, 0.5, 0, 1} {
		checkOp(t, 1e-7, both(weight), []Array{floats(r, 5), floats(r, 5), scale}, 2)
	}
	checkOp(t, 1e-7, one, []Array{floats(r, 1), scale}, 1)

	b := newBench(t, both(0.3), []Array{{Data: []float64{10, 20}, Shape: []int{2}}, {Data: []float64{1, 2}, Shape: []int{2}}, scale}, nil, 2)
	if got := b.run(t, b.loss)[0].Data[0]; got != float32(0.125*(0.3*30+0.7*3)) {
		t.Errorf("the loss is %g", got)
	}
	checkAllocations(t, b)
}

func TestTotalRefusesShapes(t *testing.T) {
	g := NewGraph()
	g.Total(g.Input("ctc", 3), g.Input("ce", 4), g.Input("scale", 1), 0.3)
	if g.Err() == nil {
		t.Fatal("losses of 3 and 4 utterances were accepted")
	}
}

package op

import (
	"math"
	"testing"

	G "gorgonia.org/gorgonia"
)

func embedOf(g *Graph, in []*G.Node) *G.Node { return g.Embed(in[0], in[1]) }

func TestEmbed(t *testing.T) {
	r := rng(41)
	// One product, one sum, and a table rounded to float32; the gradient sums up to 6 rows.
	checkOp(t, 5e-7, embedOf, []Array{ints([]int{2, 5}, 3, 3, 2, 0, 0, 6, 1, 3, 4, 5), floats(r, 7, 8)})
	checkOp(t, 5e-7, embedOf, []Array{ints([]int{1, 1}, 2), floats(r, 3, 2)})
}

func TestEmbedInvariance(t *testing.T) {
	each := []Array{ints([]int{1}, 7), ints([]int{3}, 4, 4, 2), ints([]int{5}, 2, 3, 4, 5, 6)}
	length := func(u int) int { return len(each[u].Ints) + 1 }
	checkInvariance(t, 0, embedOf, []operand{growing(each...), shared(floats(rng(42), 9, 6))}, length, 4)
}

func TestEmbedGradAddsAndDoesNotAllocate(t *testing.T) {
	b := newBench(t, embedOf, []Array{ints([]int{1, 3}, 2, 2, 4), floats(rng(43), 5, 4)}, nil)
	checkAccumulates(t, b, b.grads[0])
	checkAllocations(t, b)
}

// checkAccumulates runs the node's op on top of ones.
func checkAccumulates(t *testing.T, b *bench, n *G.Node) {
	t.Helper()
	o := n.Op().(*Op)
	if !o.Accumulates {
		t.Fatalf("%v doesn't accumulate", o)
	}
	want := b.reference(t, n)[0]
	out := Tensor{Data: make([]float32, Size(o.Out)), Shape: o.Out}
	for i := range out.Data {
		out.Data[i] = 1
		want.Data[i]++
	}
	o.Run(&Env{BLAS: NewBLAS(), Scratch: nans(o.Scratch), Add: true}, out, b.run(t, Children(n)...))
	// Products with sqrt(4) are exact; a row is added once or twice, and each sum rounded by up to 6e-8 of it.
	closeTo(t, o.Name+" added to ones", out.Data, want.Data, 1.2e-7)
}

func TestSinusoid(t *testing.T) {
	const longest, d = 9, 6
	all := RelativeTable(longest, d)
	if len(all) != (2*longest-1)*d {
		t.Fatalf("the table of distances has %d elements", len(all))
	}
	for s := 1; s <= longest; s++ { // values up to 1, rounded once: by up to 2^-25
		table := all[(longest-s)*d:][:(2*s-1)*d]
		for c := range 2*s - 1 {
			for m := range d / 2 {
				angle := float64(s-1-c) / math.Pow(10000, float64(2*m)/d)
				if got, want := table[c*d+2*m], math.Sin(angle); !(math.Abs(float64(got)-want) <= 3e-8) {
					t.Fatalf("distance %d, column %d is %g, want %g", s-1-c, 2*m, got, want)
				}
				if got, want := table[c*d+2*m+1], math.Cos(angle); !(math.Abs(float64(got)-want) <= 3e-8) {
					t.Fatalf("distance %d, column %d is %g, want %g", s-1-c, 2*m+1, got, want)
				}
			}
		}
	}
}

func TestEmbedRefusesShapes(t *testing.T) {
	for _, shape := range [][]int{{5, 3}, {1, 4}, {5}} {
		g := NewGraph()
		g.Embed(g.IntInput("targets", 2, 3), g.Input("w", shape...))
		if g.Err() == nil {
			t.Errorf("an embedding of shape %v was accepted", shape)
		}
	}
}

package op_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
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

// A branch is dropped for its share of the utterances, whole, and where it is kept it is scaled up; what it would have
// added, were it NaN, is not looked at.
func TestResidualDropsBranches(t *testing.T) {
	const batch, n = 4000, 3
	x, y := optest.Floats(optest.Rand(1), batch, n), optest.Floats(optest.Rand(2), batch, n)
	for _, drop := range []op.Drop{{Branch: 0.25, Site: 3}, {P: 0.5, Branch: 0.25, Site: 3}} {
		b := newRig(t, optest.BuildResidual(0.5, drop), []op.Array{x, y, optest.Seeds(batch)}, &op.Array{Data: slices.Repeat([]float64{1}, batch*n), Shape: []int{batch, n}})
		got := run(t, b, b.Out, b.Grads[1])
		z, dy := got[0].Data, got[1].Data
		dropped := 0
		scale := 0.5 / 0.75 / (1 - drop.P)
		for u := range batch {
			gone := 0
			for i := u * n; i < (u+1)*n; i++ {
				switch {
				case dy[i] == 0 && z[i] == float32(x.Data[i]):
					gone++
				case math.Abs(float64(z[i])-x.Data[i]-scale*y.Data[i]) > 1e-6 || math.Abs(float64(dy[i])-scale) > 1e-6:
					t.Fatalf("%v: utterance %d: z is %g and dy %g for x %g and y %g", drop, u, z[i], dy[i], x.Data[i], y.Data[i])
				}
			}
			if gone == n {
				dropped++
			} else if drop.P == 0 && gone > 0 {
				t.Fatalf("%v: %d of the %d elements of utterance %d are dropped", drop, gone, n, u)
			}
		}
		// With P 0.5 all of three kept elements are dropped in an eighth of the rest. The share deviates by 0.0075.
		if want, share := 0.25+0.75*drop.P*drop.P*drop.P, float64(dropped)/batch; !(math.Abs(share-want) <= 0.03) {
			t.Errorf("%v: %.3f of the branches are dropped, want %.3f", drop, share, want)
		}
	}

	nan := op.Array{Data: slices.Repeat([]float64{math.NaN()}, batch*n), Shape: []int{batch, n}}
	b := newRig(t, optest.BuildResidual(0.5, op.Drop{Branch: 0.25, Site: 3}), []op.Array{x, nan, optest.Seeds(batch)}, nil)
	finite := 0
	for _, v := range run(t, b, b.Out)[0].Data {
		if v == v {
			finite++
		}
	}
	if share := float64(finite) / (batch * n); !(math.Abs(share-0.25) <= 0.03) {
		t.Errorf("%.3f of the sums with NaN are numbers, want 0.25", share)
	}
}

// Only a residual branch can be dropped as a whole: any other op that is asked for it says so.
func TestBranchesAreOfResidualsAlone(t *testing.T) {
	d := op.Drop{P: 0.1, Branch: 0.1, Site: 1}
	for name, build := range map[string]func(g *op.Graph, x, n, seeds *G.Node){
		"dropout": func(g *op.Graph, x, _, seeds *G.Node) { g.Dropout(x, seeds, d) },
		"swish":   func(g *op.Graph, x, _, seeds *G.Node) { g.Swish(x, seeds, d) },
		"attention": func(g *op.Graph, x, n, seeds *G.Node) {
			g.Attention(x, x, x, n, n, seeds, op.AttentionOptions{Heads: 2, Drop: d})
		},
	} {
		refuses(t, name, func(g *op.Graph) { build(g, g.Input("x", 2, 3, 4), g.IntInput("n", 2), g.IntInput("seeds", 2, 2)) })
	}
	for _, p := range []float64{-0.1, 1, 0.999999, math.NaN()} {
		refuses(t, "a wrong probability of dropping a branch", func(g *op.Graph) {
			g.Residual(g.Input("x", 2, 3), 1, g.Input("y", 2, 3), g.IntInput("seeds", 2, 2), op.Drop{Branch: p, Site: 1})
		})
	}
}

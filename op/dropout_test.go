package op_test

import (
	"math"
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

func TestDropoutKeepsItsShareAndTheMean(t *testing.T) {
	const n = 200_000
	in := op.Array{Data: make([]float64, n), Shape: []int{1, n}}
	for i := range in.Data {
		in.Data[i] = 1
	}
	for _, p := range []float64{0.1, 0.25} {
		b := newRig(t, optest.BuildDropout(op.Drop{P: p, Site: 9}), []op.Array{in, optest.Seeds(1)}, nil)
		zeros, sum := 0, 0.0
		for _, v := range run(t, b, b.Out)[0].Data {
			if v == 0 {
				zeros++
			}
			sum += float64(v)
		}
		// A binomial share deviates by sqrt(p(1-p)/n), less than 1e-3: five of them.
		if share := float64(zeros) / n; !(math.Abs(share-p) <= 5e-3) {
			t.Errorf("P is %v, %v are zero", p, share)
		}
		if mean := sum / n; !(math.Abs(mean-1) <= 6e-3) {
			t.Errorf("P is %v, the mean goes from 1 to %v", p, mean)
		}
	}
}

func TestDropoutSitesAreDifferentOps(t *testing.T) {
	g := op.NewGraph()
	x, seeds := g.Input("x", 2, 8), g.IntInput("seeds", 2, 2)
	a, b := g.Dropout(x, seeds, op.Drop{P: 0.5, Site: 1}), g.Dropout(x, seeds, op.Drop{P: 0.5, Site: 2})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if a == b {
		t.Fatal("two sites became one node")
	}
	if g.Dropout(x, seeds, op.Drop{Site: 1}) != x || g.Dropout(x, nil, op.Drop{P: 0.5, Site: 1}) != x {
		t.Fatal("no dropout must leave x as it is")
	}
}

func TestDropoutRefuses(t *testing.T) {
	for _, p := range []float64{-0.1, 1, 0.999999, math.NaN(), math.Inf(1)} {
		refuses(t, "a wrong probability", func(g *op.Graph) {
			g.Dropout(g.Input("x", 2, 3), g.IntInput("seeds", 2, 2), op.Drop{P: p, Site: 1})
		})
	}
	refuses(t, "seeds of three utterances for two", func(g *op.Graph) {
		g.Dropout(g.Input("x", 2, 3), g.IntInput("seeds", 3, 2), op.Drop{P: 0.5, Site: 1})
	})
	refuses(t, "float seeds", func(g *op.Graph) {
		g.Dropout(g.Input("x", 2, 3), g.Input("seeds", 2, 2), op.Drop{P: 0.5, Site: 1})
	})
}

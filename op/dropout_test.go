package op

import (
	"math"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/philox"
)

// keysOf is the operand of random keys for each of n utterances.
func keysOf(n int) Array {
	a := Array{Shape: []int{n, 2}}
	for _, k := range keysEach(n).each {
		a.Ints = append(a.Ints, k.Ints...)
	}
	return a
}

// keysEach is the same for the invariance test.
func keysEach(n int) operand {
	var each []Array
	for u := range n {
		k := philox.Key(11, uint64(u))
		each = append(each, ints([]int{2}, int32(uint32(k)), int32(uint32(k>>32))))
	}
	return fixed(each...)
}

func dropoutOf(d Drop) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node { return g.Dropout(in[0], in[1], d) }
}

func TestDropout(t *testing.T) {
	r := rng(1)
	// The draws are integers and agree exactly; the scale is rounded once, the product once.
	for _, in := range [][]Array{
		{floats(r, 1, 3), keysOf(1)},
		{floats(r, 2, 5, 60), keysOf(2)},
		{floats(r, 3, 7, 3, 13), keysOf(3)},
	} {
		for _, p := range []float64{0.1, 0.5, 0.9} {
			checkOp(t, 2e-7, dropoutOf(Drop{p, 3}), in)
			checkKernels(t, dropoutOf(Drop{p, 3}), in)
		}
	}
}

func TestDropoutInvariance(t *testing.T) {
	lengths := []int{1, 5, 40}
	ops := []operand{sequence(rng(2), lengths, 24), keysEach(3)}
	checkInvariance(t, 0, dropoutOf(Drop{0.3, 1}), ops, func(u int) int { return lengths[u] }, 7)
}

func TestDropoutKeepsItsShareAndTheMean(t *testing.T) {
	const n = 200_000
	in := Array{Data: make([]float64, n), Shape: []int{1, n}}
	for i := range in.Data {
		in.Data[i] = 1
	}
	for _, p := range []float64{0.1, 0.25} {
		b := newBench(t, dropoutOf(Drop{p, 9}), []Array{in, keysOf(1)}, nil)
		zeros, sum := 0, 0.0
		for _, v := range b.run(t, b.out)[0].Data {
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
	g := NewGraph()
	x, keys := g.Input("x", 2, 8), g.IntInput("keys", 2, 2)
	a, b := g.Dropout(x, keys, Drop{0.5, 1}), g.Dropout(x, keys, Drop{0.5, 2})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if a == b {
		t.Fatal("two sites became one node")
	}
	if g.Dropout(x, keys, Drop{0, 1}) != x || g.Dropout(x, nil, Drop{0.5, 1}) != x {
		t.Fatal("no dropout must leave x as it is")
	}
}

func TestDropoutRefuses(t *testing.T) {
	for _, p := range []float64{-0.1, 1, 0.999999, math.NaN(), math.Inf(1)} {
		refuses(t, "a wrong probability", func(g *Graph) {
			g.Dropout(g.Input("x", 2, 3), g.IntInput("keys", 2, 2), Drop{p, 1})
		})
	}
	refuses(t, "keys of three utterances for two", func(g *Graph) {
		g.Dropout(g.Input("x", 2, 3), g.IntInput("keys", 3, 2), Drop{0.5, 1})
	})
	refuses(t, "float keys", func(g *Graph) {
		g.Dropout(g.Input("x", 2, 3), g.Input("keys", 2, 2), Drop{0.5, 1})
	})
}

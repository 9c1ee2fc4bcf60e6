package op_test

import (
	"fmt"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

func TestRelativeAttentionGolden(t *testing.T) {
	f := testkit.Golden(t, "relpos")
	read := func(c int, name string) ([]float64, []int) {
		v, shape, err := f.Floats(fmt.Sprintf("case.%d.%s", c, name))
		if err != nil {
			t.Fatal(err)
		}
		wide := make([]float64, len(v))
		for i, x := range v {
			wide[i] = float64(x)
		}
		return wide, shape
	}
	cases := 0
	for c := range 100 {
		if _, ok := f.Info(fmt.Sprintf("case.%d.q", c)); !ok {
			break
		}
		cases++
		var in []op.Array
		var b, h, s, d int
		for _, name := range []string{"q", "k", "v"} { // [B, h, S, dh]
			v, shape := read(c, name)
			b, h, s, d = shape[0], shape[1], shape[2], shape[1]*shape[3]
			in = append(in, op.Array{Data: joinHeads(v, b, h, s), Shape: []int{b, s, d}})
		}
		table, _ := read(c, "table")
		pos, _ := read(c, "pos")
		in = append(in, op.Array{Data: table, Shape: []int{2*s - 1, d}}, op.Array{Data: pos, Shape: []int{d, d}})
		for _, name := range []string{"bias_u", "bias_v"} {
			v, shape := read(c, name)
			in = append(in, op.Array{Data: v, Shape: shape})
		}
		lengths, _, err := f.Ints(fmt.Sprintf("case.%d.lengths", c))
		if err != nil {
			t.Fatal(err)
		}
		l := op.Array{Shape: []int{b}}
		for _, n := range lengths {
			l.Ints = append(l.Ints, int32(n))
		}
		in = append(in, l)
		dout, _ := read(c, "dout")
		weight := op.Array{Data: joinHeads(dout, b, h, s), Shape: []int{b, s, d}}
		bench := newRig(t, func(g *op.Graph, in []*G.Node) *G.Node {
			p := g.Linear(in[3], in[4], nil)
			return g.RelativeAttention(in[0], in[1], in[2], p, in[5], in[6], in[7], nil, op.RelativeOptions{Heads: h, Factor: 1})
		}, in, &weight, 3)
		got := run(t, bench, bench.Results()...)
		for i, name := range []string{"out", "grad.q", "grad.k", "grad.v", "grad.pos", "grad.bias_u", "grad.bias_v"} {
			want, _ := read(c, name)
			if i < 4 {
				want = joinHeads(want, b, h, s)
			}
			closeTo(t, fmt.Sprintf("case %d: %s", c, name), got[i].Data, want, 1e-5) // the tolerance of the golden file
		}
	}
	if cases < 4 {
		t.Fatalf("the golden file has %d cases, want 4 or more", cases)
	}
}

// joinHeads turns [B, h, S, dh] into [B, S, h*dh].
func joinHeads(x []float64, b, h, s int) []float64 {
	dh := len(x) / (b * h * s)
	out := make([]float64, len(x))
	for i, v := range x {
		c, row, head, batch := i%dh, i/dh%s, i/dh/s%h, i/dh/s/h
		out[((batch*s+row)*h+head)*dh+c] = v
	}
	return out
}

func TestAttentionRefuses(t *testing.T) {
	ok := op.RelativeOptions{Heads: 2, Factor: 4}
	for name, build := range map[string]func(g *op.Graph, q, p, u, n *G.Node){
		"heads that don't divide d": func(g *op.Graph, q, p, u, n *G.Node) {
			g.RelativeAttention(q, q, q, p, u, u, n, nil, op.RelativeOptions{Heads: 3, Factor: 4})
		},
		"a wrong table": func(g *op.Graph, q, p, u, n *G.Node) { g.RelativeAttention(q, q, q, u, u, u, n, nil, ok) },
		"a wrong bias":  func(g *op.Graph, q, p, u, n *G.Node) { g.RelativeAttention(q, q, q, p, p, u, n, nil, ok) },
		"a factor of 3": func(g *op.Graph, q, p, u, n *G.Node) {
			g.RelativeAttention(q, q, q, p, u, u, n, nil, op.RelativeOptions{Heads: 2, Factor: 3})
		},
		"float lengths": func(g *op.Graph, q, p, u, n *G.Node) { g.RelativeAttention(q, q, q, p, u, u, u, nil, ok) },
		"seeds that are no seeds": func(g *op.Graph, q, p, u, n *G.Node) {
			g.RelativeAttention(q, q, q, p, u, u, n, n, op.RelativeOptions{Heads: 2, Factor: 4, Drop: op.Drop{P: 0.1}})
		},
		"probability 1": func(g *op.Graph, q, p, u, n *G.Node) {
			g.Attention(q, q, q, n, n, g.IntInput("seeds", 3, 2), op.AttentionOptions{Heads: 2, Drop: op.Drop{P: 1}})
		},
		"queries and keys of other widths": func(g *op.Graph, q, p, u, n *G.Node) {
			g.Attention(q, g.Input("k", 3, 5, 6), g.Input("v", 3, 5, 6), n, n, nil, op.AttentionOptions{Heads: 2})
		},
	} {
		g := op.NewGraph()
		build(g, g.Input("q", 3, 5, 8), g.Input("p", 9, 8), g.Input("u", 2, 4), g.IntInput("n", 3))
		if g.Err() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

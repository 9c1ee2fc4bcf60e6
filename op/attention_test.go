package op

import (
	"fmt"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
)

// someKeys are the random keys of n utterances.
func someKeys(n int) Array {
	r := rng(77)
	a := Array{Shape: []int{n, 2}}
	for range 2 * n {
		a.Ints = append(a.Ints, int32(r.Uint32()))
	}
	return a
}

// keyOf is the random key of one utterance without the batch dimension.
func keyOf(u int) Array { return ints([]int{2}, int32(u*7919+5), int32(-u)) }

// attentionOf builds plain attention with the lengths as they are.
func attentionOf(o AttentionOptions) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node {
		if len(in) == 6 {
			return g.Attention(in[0], in[1], in[2], in[3], in[4], in[5], o)
		}
		return g.Attention(in[0], in[1], in[2], in[3], in[4], nil, o)
	}
}

func relativeOf(o RelativeOptions) func(g *Graph, in []*G.Node) *G.Node {
	return func(g *Graph, in []*G.Node) *G.Node {
		if len(in) == 8 {
			return g.RelativeAttention(in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], o)
		}
		return g.RelativeAttention(in[0], in[1], in[2], in[3], in[4], in[5], in[6], nil, o)
	}
}

// attentionTol: sums over keys in float32 of weights that sum to 1, scores a few units large.
const attentionTol = 5e-6

func TestAttention(t *testing.T) {
	r := rng(31)
	drop := Drop{P: 0.3, Site: 5}
	for _, c := range []struct {
		l, s          int
		queries, keys []int32
		o             AttentionOptions
	}{
		{1, 1, []int32{1}, []int32{1}, AttentionOptions{Heads: 2, Causal: true}},
		{4, 7, []int32{3, 0, 1}, []int32{7, 3, 1}, AttentionOptions{Heads: 2, QueryExtra: 1}},
		{6, 6, []int32{6, 3}, []int32{6, 3}, AttentionOptions{Heads: 1, Causal: true, Drop: drop}},
		{70, 70, []int32{69, 12}, []int32{69, 12}, AttentionOptions{Heads: 2, Causal: true, QueryExtra: 1, KeyExtra: 1, Drop: drop}},
		{67, 33, []int32{66, 9}, []int32{131, 2}, AttentionOptions{Heads: 3, QueryExtra: 1, KeyFactor: 4, Drop: drop}},
		{5, 4, []int32{5, 5}, []int32{0, 4}, AttentionOptions{Heads: 2, Drop: drop}}, // no key at all
	} {
		b := len(c.queries)
		in := []Array{floats(r, b, c.l, 6), floats(r, b, c.s, 6), floats(r, b, c.s, 6), ints([]int{b}, c.queries...), ints([]int{b}, c.keys...)}
		if c.o.Drop.P > 0 {
			in = append(in, someKeys(b))
		}
		checkOp(t, attentionTol, attentionOf(c.o), in)
	}
}

func TestRelativeAttention(t *testing.T) {
	r := rng(32)
	drop := Drop{P: 0.3, Site: 5}
	for _, c := range []struct {
		s       int
		lengths []int32
		o       RelativeOptions
	}{
		{1, []int32{1}, RelativeOptions{Heads: 2, Factor: 1}},
		{2, []int32{2, 1}, RelativeOptions{Heads: 3, Factor: 1, Drop: drop}},
		{7, []int32{7, 4, 1, 0}, RelativeOptions{Heads: 2, Factor: 1}},
		{33, []int32{131, 57, 5}, RelativeOptions{Heads: 3, Factor: 4, Drop: drop}},
		{queryTile + 1, []int32{2*queryTile + 1}, RelativeOptions{Heads: 2, Factor: 2, Drop: drop}}, // a second tile of one query
	} {
		b := len(c.lengths)
		in := []Array{
			floats(r, b, c.s, 6), floats(r, b, c.s, 6), floats(r, b, c.s, 6), floats(r, 2*c.s-1, 6),
			floats(r, c.o.Heads, 6/c.o.Heads), floats(r, c.o.Heads, 6/c.o.Heads), ints([]int{b}, c.lengths...),
		}
		if c.o.Drop.P > 0 {
			in = append(in, someKeys(b))
		}
		checkOp(t, attentionTol, relativeOf(c.o), in)
	}
}

// utteranceFrames are the lengths of an invariance batch, in feature frames: one frame, less than a window of
// the convolutions, around a multiple of the subsampling, and more than one tile of queries.
var utteranceFrames = []int{1, 5, 37, 80, 81, 200, 300}

func lengthOperand(lengths []int) operand {
	var each []Array
	for _, n := range lengths {
		each = append(each, ints([]int{1}, int32(n)))
	}
	return fixed(each...)
}

func keyOperand(n int) operand {
	var each []Array
	for u := range n {
		each = append(each, keyOf(u))
	}
	return fixed(each...)
}

func subsampled(lengths []int, factor int) []int {
	var s []int
	for _, n := range lengths {
		s = append(s, frames.Subsampled(n, factor))
	}
	return s
}

func TestAttentionInvariance(t *testing.T) {
	r := rng(33)
	tokens := []int{3, 0, 13, 70, 1, 20, 40}
	steps := make([]int, len(tokens))
	for u, n := range tokens {
		steps[u] = n + 1
	}
	encoder := subsampled(utteranceFrames, 4)
	length := func(u int) int { return steps[u] }
	for _, p := range []float64{0, 0.1} {
		ops := []operand{sequence(r, steps, 16), sequence(r, encoder, 16), sequence(r, encoder, 16), lengthOperand(tokens), lengthOperand(utteranceFrames)}
		self := []operand{sequence(r, steps, 16), sequence(r, steps, 16), sequence(r, steps, 16), lengthOperand(tokens), lengthOperand(tokens)}
		o := AttentionOptions{Heads: 4, QueryExtra: 1, KeyFactor: 4, Drop: Drop{P: p, Site: 9}}
		selfOptions := AttentionOptions{Heads: 4, QueryExtra: 1, KeyExtra: 1, Causal: true, Drop: Drop{P: p, Site: 9}}
		if p > 0 {
			ops, self = append(ops, keyOperand(len(steps))), append(self, keyOperand(len(steps)))
		}
		checkInvariance(t, 0, attentionOf(o), ops, length, 9)
		checkInvariance(t, 0, attentionOf(selfOptions), self, length, 9)
	}
}

func TestRelativeAttentionInvariance(t *testing.T) {
	const longest, d = 100, 16
	r := rng(34)
	for _, factor := range []int{2, 4, 8} {
		s := subsampled(utteranceFrames, factor)
		lengths := utteranceFrames
		if factor == 2 { // keep the batch within the table of distances
			s, lengths = s[:5], lengths[:5]
		}
		for _, p := range []float64{0, 0.1} {
			ops := []operand{
				sequence(r, s, d), sequence(r, s, d), sequence(r, s, d), shared(floats(r, 2*longest-1, d)),
				shared(floats(r, 2, d/2)), shared(floats(r, 2, d/2)), lengthOperand(lengths),
			}
			if p > 0 {
				ops = append(ops, keyOperand(len(s)))
			}
			build := func(g *Graph, in []*G.Node) *G.Node {
				n := in[0].Shape()[1]
				in = slices.Clone(in)
				in[3] = g.add(rowsOf(longest-n, 2*n-1), in[3])
				return relativeOf(RelativeOptions{Heads: 2, Factor: factor, Drop: Drop{P: p, Site: 3}})(g, in)
			}
			checkInvariance(t, 0, build, ops, func(u int) int { return s[u] }, 9)
		}
	}
}

// rowsOf is a test's own op: n rows of x from first on. A batch's table of distances is a part of a longer one.
func rowsOf(first, n int) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		all, d := in[0].Shape[0], in[0].Shape[1]
		return &Op{
			Name: "test.rows", Params: fmt.Sprint(first), Out: []int{n, d}, wrt: []bool{true},
			Run: func(_ *Env, out Tensor, in []Tensor) { copy(out.Data, in[0].Data[first*d:]) },
			Ref: func(out Array, in []Array) { copy(out.Data, in[0].Data[first*d:]) },
			grad: func(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
				dx, err := build(func([]Type) (*Op, error) {
					return &Op{
						Name: "test.rows.dx", Params: fmt.Sprint(first), Out: []int{all, d},
						Run: func(_ *Env, out Tensor, in []Tensor) { clear(out.Data); copy(out.Data[first*d:], in[0].Data) },
						Ref: func(out Array, in []Array) { clear(out.Data); copy(out.Data[first*d:], in[0].Data) },
					}, nil
				}, dy)
				return G.Nodes{dx}, err
			},
		}, nil
	}
}

// Nothing past the lengths is read, and what comes back there is exactly 0.
func TestAttentionPadding(t *testing.T) {
	r := rng(35)
	const s, d = 9, 8
	in := []Array{floats(r, 2, s, d), floats(r, 2, s, d), floats(r, 2, s, d), floats(r, 2*s-1, d), floats(r, 2, 4), floats(r, 2, 4), ints([]int{2}, 5, 0)}
	b := newBench(t, relativeOf(RelativeOptions{Heads: 2, Factor: 1}), in, nil)
	clean := b.run(t, append(G.Nodes{b.out}, b.grads...)...)
	for i := range 3 {
		padded := Array{Data: slices.Clone(in[i].Data), Shape: in[i].Shape}
		for j := range padded.Data {
			if j/d%s >= 5 || j/d/s == 1 {
				padded.Data[j] = float64(nans(1)[0])
			}
		}
		b.feeds[b.in[i]] = padded
	}
	dirty := b.run(t, append(G.Nodes{b.out}, b.grads...)...)
	for i := range clean {
		if !slices.Equal(clean[i].Data, dirty[i].Data) {
			t.Fatalf("result %d depends on padding", i)
		}
		if i > 3 {
			continue
		}
		for j, v := range dirty[i].Data {
			if (j/d%s >= 5 || j/d/s == 1) && v != 0 {
				t.Fatalf("result %d: %g on padding", i, v)
			}
		}
	}
}

func TestAttentionDoesNotAllocate(t *testing.T) {
	r := rng(36)
	const s, d = 70, 8
	in := []Array{
		floats(r, 2, s, d), floats(r, 2, s, d), floats(r, 2, s, d), floats(r, 2*s-1, d), floats(r, 2, 4), floats(r, 2, 4),
		ints([]int{2}, 70, 20), someKeys(2),
	}
	b := newBench(t, relativeOf(RelativeOptions{Heads: 2, Factor: 1, Drop: Drop{P: 0.1, Site: 1}}), in, nil)
	checkAllocations(t, b)
}

// checkInPlace runs the node's op with its result in the memory of each input that it names.
func checkInPlace(t *testing.T, b *bench, n *G.Node) {
	t.Helper()
	o := n.Op().(*Op)
	want := b.run(t, n)[0]
	for _, place := range o.InPlace {
		in := b.run(t, Children(n)...)
		for i := range in {
			in[i].Data = slices.Clone(in[i].Data)
		}
		o.Run(&Env{BLAS: NewBLAS(), Scratch: nans(o.Scratch)}, Tensor{Data: in[place].Data, Shape: o.Out}, in)
		if !slices.Equal(in[place].Data, want.Data) {
			t.Fatalf("%v in the memory of input %d differs", o, place)
		}
	}
}

// checkAllocations runs every op of the bench for its garbage.
func checkAllocations(t *testing.T, b *bench) {
	t.Helper()
	for _, n := range b.g.AllNodes() {
		o, ok := n.Op().(*Op)
		if !ok {
			continue
		}
		in, out := b.run(t, Children(n)...), b.run(t, n)[0]
		e := &Env{BLAS: NewBLAS(), Scratch: make([]float32, o.Scratch)}
		if a := testing.AllocsPerRun(3, func() { o.Run(e, out, in) }); a > 0 {
			t.Errorf("%v allocates %g times in a run", o, a)
		}
	}
}

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
		var in []Array
		var b, h, s, d int
		for _, name := range []string{"q", "k", "v"} { // [B, h, S, dh]
			v, shape := read(c, name)
			b, h, s, d = shape[0], shape[1], shape[2], shape[1]*shape[3]
			in = append(in, Array{Data: joinHeads(v, b, h, s), Shape: []int{b, s, d}})
		}
		table, _ := read(c, "table")
		pos, _ := read(c, "pos")
		in = append(in, Array{Data: table, Shape: []int{2*s - 1, d}}, Array{Data: pos, Shape: []int{d, d}})
		for _, name := range []string{"bias_u", "bias_v"} {
			v, shape := read(c, name)
			in = append(in, Array{Data: v, Shape: shape})
		}
		lengths, _, err := f.Ints(fmt.Sprintf("case.%d.lengths", c))
		if err != nil {
			t.Fatal(err)
		}
		l := Array{Shape: []int{b}}
		for _, n := range lengths {
			l.Ints = append(l.Ints, int32(n))
		}
		in = append(in, l)
		dout, _ := read(c, "dout")
		weight := Array{Data: joinHeads(dout, b, h, s), Shape: []int{b, s, d}}
		bench := newBench(t, func(g *Graph, in []*G.Node) *G.Node {
			p := g.Linear(in[3], in[4], nil)
			return g.RelativeAttention(in[0], in[1], in[2], p, in[5], in[6], in[7], nil, RelativeOptions{Heads: h, Factor: 1})
		}, in, &weight, 3)
		got := bench.run(t, append(G.Nodes{bench.out}, bench.grads...)...)
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
	ok := RelativeOptions{Heads: 2, Factor: 4}
	for name, build := range map[string]func(g *Graph, q, p, u, n *G.Node){
		"heads that don't divide d": func(g *Graph, q, p, u, n *G.Node) {
			g.RelativeAttention(q, q, q, p, u, u, n, nil, RelativeOptions{Heads: 3, Factor: 4})
		},
		"a wrong table": func(g *Graph, q, p, u, n *G.Node) { g.RelativeAttention(q, q, q, u, u, u, n, nil, ok) },
		"a wrong bias":  func(g *Graph, q, p, u, n *G.Node) { g.RelativeAttention(q, q, q, p, p, u, n, nil, ok) },
		"a factor of 3": func(g *Graph, q, p, u, n *G.Node) {
			g.RelativeAttention(q, q, q, p, u, u, n, nil, RelativeOptions{Heads: 2, Factor: 3})
		},
		"float lengths": func(g *Graph, q, p, u, n *G.Node) { g.RelativeAttention(q, q, q, p, u, u, u, nil, ok) },
		"keys that are no keys": func(g *Graph, q, p, u, n *G.Node) {
			g.RelativeAttention(q, q, q, p, u, u, n, n, RelativeOptions{Heads: 2, Factor: 4, Drop: Drop{P: 0.1}})
		},
		"probability 1": func(g *Graph, q, p, u, n *G.Node) {
			g.Attention(q, q, q, n, n, g.IntInput("keys", 3, 2), AttentionOptions{Heads: 2, Drop: Drop{P: 1}})
		},
		"queries and keys of other widths": func(g *Graph, q, p, u, n *G.Node) {
			g.Attention(q, g.Input("k", 3, 5, 6), g.Input("v", 3, 5, 6), n, n, nil, AttentionOptions{Heads: 2})
		},
	} {
		g := NewGraph()
		build(g, g.Input("q", 3, 5, 8), g.Input("p", 9, 8), g.Input("u", 2, 4), g.IntInput("n", 3))
		if g.Err() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

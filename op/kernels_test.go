package op

import (
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
)

// checkKernels holds every kernel of the op and of its gradient to what the op says about it: the same
// result to the last bit in the memory of each of the InPlace inputs, a sum where it Accumulates, nothing
// read from scratch before it is written, and no allocation.
func checkKernels(t *testing.T, build func(g *Graph, in []*G.Node) *G.Node, in []Array) {
	t.Helper()
	b := newBench(t, build, in, nil)
	for _, n := range b.g.AllNodes() {
		o, ok := n.Op().(*Op)
		if !ok {
			continue
		}
		want := b.run(t, n)[0]
		operands := b.run(t, Children(n)...)
		env := &Env{BLAS: NewBLAS(), Scratch: nans(o.Scratch)}
		for _, k := range o.InPlace {
			copies := make([]Tensor, len(operands))
			for i, v := range operands {
				copies[i] = Tensor{Data: slices.Clone(v.Data), Ints: v.Ints, Shape: v.Shape}
			}
			out := Tensor{Data: copies[k].Data, Shape: o.Out}
			if len(out.Data) != len(want.Data) {
				t.Fatalf("%v: in place of input %d, which has %d elements, not %d", o, k, len(out.Data), len(want.Data))
			}
			o.Run(env, out, copies)
			for i, v := range out.Data {
				if v != want.Data[i] {
					t.Fatalf("%v: in place of input %d element %d is %g, else %g", o, k, i, v, want.Data[i])
				}
			}
		}
		out := Tensor{Data: slices.Repeat([]float32{3}, len(want.Data)), Shape: o.Out}
		if o.Accumulates {
			env.Add = true
			o.Run(env, out, operands)
			sum := make([]float64, len(want.Data))
			for i, v := range want.Data {
				sum[i] = 3 + float64(v)
			}
			// Up to 70 rows are added to the 3 one by one, each sum rounded by up to 6e-8 of it: 2.2e-7 in all.
			closeTo(t, "adding: "+o.String(), out.Data, sum, 4e-7)
			env.Add = false
		}
		if allocs := testing.AllocsPerRun(3, func() { o.Run(env, out, operands) }); allocs > 0 {
			t.Fatalf("%v: %v allocations in a run", o, allocs)
		}
	}
}

// refuses fails if the graph that build writes down is accepted.
func refuses(t *testing.T, what string, build func(g *Graph)) {
	t.Helper()
	g := NewGraph()
	build(g)
	if g.Err() == nil {
		t.Errorf("%s: accepted", what)
	}
}

// padded is the values of each [B, T, ...] past the lengths of its utterances set to v.
func padded(a Array, lengths []int, v float64) Array {
	a.Data = slices.Clone(a.Data)
	size := Size(a.Shape) / len(lengths)
	frame := size / a.Shape[1]
	for b, n := range lengths {
		for i := n * frame; i < size; i++ {
			a.Data[b*size+i] = v
		}
	}
	return a
}

// checkPadding runs the op with NaN and with 0 past the lengths of its first input: results and gradients
// must be the same to the last bit, and the first input's gradient exactly 0 there.
func checkPadding(t *testing.T, build func(g *Graph, in []*G.Node) *G.Node, in []Array, lengths []int) {
	t.Helper()
	var results [2][]Tensor
	for i, v := range []float64{0, math.NaN()} {
		b := newBench(t, build, append([]Array{padded(in[0], lengths, v)}, in[1:]...), nil)
		results[i] = b.run(t, append(G.Nodes{b.out}, b.grads...)...)
	}
	for i, r := range results[0] {
		for j, v := range r.Data {
			if got := results[1][i].Data[j]; got != v {
				t.Fatalf("result %d, element %d is %g where padding holds NaN, %g where it holds 0", i, j, got, v)
			}
		}
	}
	dx := results[1][1]
	size := len(dx.Data) / len(lengths)
	for b, n := range lengths {
		for i := n * size / dx.Shape[1]; i < size; i++ {
			if v := dx.Data[b*size+i]; v != 0 {
				t.Fatalf("utterance %d: the gradient is %g in padding", b, v)
			}
		}
	}
}

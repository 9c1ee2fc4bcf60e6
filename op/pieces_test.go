package op

import (
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/testkit"
)

// pieces are golden tensors of single parts of the network, computed by PyTorch in float64.
type pieces struct {
	*safetensors.File
	t *testing.T
}

func openPieces(t *testing.T) pieces { return pieces{testkit.Golden(t, "pieces"), t} }

// floats is a tensor; with swapped, its last two dimensions change places (channels last).
func (p pieces) floats(name string, swapped bool) Array {
	p.t.Helper()
	data, shape, err := p.Float64s(name)
	if err != nil {
		p.t.Fatal(err)
	}
	a := Array{Data: data, Shape: shape}
	if swapped {
		r, c := shape[len(shape)-2], shape[len(shape)-1]
		a = Array{Data: make([]float64, len(data)), Shape: append(append([]int{}, shape[:len(shape)-2]...), c, r)}
		transposeRef(len(data)/(r*c), r, c)(a, []Array{{Data: data}})
	}
	return a
}

func (p pieces) lengths(name string) []int {
	p.t.Helper()
	values, _, err := p.Ints(name)
	if err != nil {
		p.t.Fatal(err)
	}
	out := make([]int, len(values))
	for i, v := range values {
		out[i] = int(v)
	}
	return out
}

// lengthsOf is an op's operand of lengths.
func lengthsOf(lengths []int) Array {
	a := Array{Shape: []int{len(lengths)}}
	for _, n := range lengths {
		a.Ints = append(a.Ints, int32(n))
	}
	return a
}

// check runs the op on the inputs, with the case's dout flowing in, and compares the result and the
// gradients of the inputs named; an empty name stands for an integer input. Where lengths are given, the
// result past outLengths and the gradient of the first input past lengths are compared as 0.
func (p pieces) check(name string, tol float64, swapped bool, build func(g *Graph, in []*G.Node) *G.Node, in []Array, names []string, lengths, outLengths []int) {
	p.t.Helper()
	dout := p.floats(name+".dout", swapped)
	b := newBench(p.t, build, in, &dout)
	got := b.run(p.t, append(G.Nodes{b.out}, b.grads...)...)
	ref := b.reference(p.t, append(G.Nodes{b.out}, b.grads...)...)
	want := []Array{p.floats(name+".out", swapped)}
	for i, n := range names {
		if n != "" {
			want = append(want, p.floats(name+".grad."+n, swapped && i == 0))
		}
	}
	for i, w := range want {
		run, spec := got[i].array(), ref[i]
		if lengths != nil && i == 0 {
			run, spec = padded(run, outLengths, 0), padded(spec, outLengths, 0)
		}
		if lengths != nil && i == 1 {
			run, spec = padded(run, lengths, 0), padded(spec, lengths, 0)
		}
		closeTo(p.t, name+": float32", run.tensor().Data, w.Data, tol)
		closeTo(p.t, name+": specification", spec.tensor().Data, w.Data, 2e-7) // both are float64, rounded to float32
	}
}

// array is t in float64.
func (t Tensor) array() Array {
	a := Array{Ints: t.Ints, Shape: t.Shape, Data: make([]float64, len(t.Data))}
	for i, v := range t.Data {
		a.Data[i] = float64(v)
	}
	return a
}

package op_test

import (
	"testing"

	"konkanitrain/internal/optest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
)

// pieces are golden tensors of single parts of the network, computed by PyTorch in float64.
type pieces struct {
	*testkit.Tensors
	t      *testing.T
	single bool // tensors get a batch dimension of 1
}

func openPieces(t *testing.T) pieces { return pieces{Tensors: testkit.Golden(t, "pieces"), t: t} }

// floats is a tensor; with swapped, its last two dimensions change places (channels last).
func (p pieces) floats(name string, swapped bool) op.Array {
	p.t.Helper()
	data, shape, err := p.Float64s(name)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.single {
		shape = append([]int{1}, shape...)
	}
	a := op.Array{Data: data, Shape: shape}
	if swapped {
		r, c := shape[len(shape)-2], shape[len(shape)-1]
		a = op.Array{Data: make([]float64, len(data)), Shape: append(append([]int{}, shape[:len(shape)-2]...), c, r)}
		for i, v := range data {
			matrix, row, column := i/(r*c), i/c%r, i%c
			a.Data[(matrix*c+column)*r+row] = v
		}
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
func lengthsOf(lengths []int) op.Array {
	a := op.Array{Shape: []int{len(lengths)}}
	for _, n := range lengths {
		a.Ints = append(a.Ints, int32(n))
	}
	return a
}

// check runs the op on the inputs, with the case's dout flowing in, and compares the result and the
// gradients of the inputs named; an empty name stands for an integer input. Where lengths are given, the
// result past outLengths and the gradient of the first input past lengths are compared as 0.
func (p pieces) check(name string, tol float64, swapped bool, build optest.Build, in []op.Array, names []string, lengths, outLengths []int) {
	p.t.Helper()
	dout := p.floats(name+".dout", swapped)
	b := newRig(p.t, build, in, &dout)
	got := run(p.t, b, b.Results()...)
	ref := reference(p.t, b, b.Results()...)
	want := []op.Array{p.floats(name+".out", swapped)}
	for i, n := range names {
		if n != "" {
			want = append(want, p.floats(name+".grad."+n, swapped && i == 0))
		}
	}
	for i, w := range want {
		kernel, spec := optest.NewArray(got[i]), ref[i]
		if lengths != nil && i == 0 {
			kernel, spec = padded(kernel, outLengths), padded(spec, outLengths)
		}
		if lengths != nil && i == 1 {
			kernel, spec = padded(kernel, lengths), padded(spec, lengths)
		}
		p.close(name+": float32", kernel, w, tol)
		p.close(name+": specification", spec, w, 2e-7) // both are float64, rounded to float32
	}
}

func (p pieces) close(what string, got, want op.Array, tol float64) {
	p.t.Helper()
	if err := optest.Close(got.Data, want.Data, tol); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

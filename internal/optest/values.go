package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"konkanitrain/op"
)

// Rand gives the same numbers in each run of a test.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// Floats is an operand of values drawn from a normal distribution, exact in float32.
func Floats(r *rand.Rand, shape ...int) op.Array {
	a := op.Array{Data: make([]float64, op.Size(shape)), Shape: shape}
	for i := range a.Data {
		a.Data[i] = float64(float32(r.NormFloat64()))
	}
	return a
}

// Ints is an integer operand.
func Ints(shape []int, values ...int32) op.Array { return op.Array{Ints: values, Shape: shape} }

// Lengths is an operand of lengths [B].
func Lengths(values ...int32) op.Array { return Ints([]int{len(values)}, values...) }

// Values is an operand of given floats, in one dimension.
func Values(values ...float64) op.Array { return op.Array{Data: values, Shape: []int{len(values)}} }

// Tokens are n ids from 2 on, below v.
func Tokens(seed uint64, n, v int) op.Array {
	r := Rand(seed)
	a := op.Array{Ints: make([]int32, n), Shape: []int{n}}
	for i := range a.Ints {
		a.Ints[i] = int32(2 + r.IntN(v-2))
	}
	return a
}

// Seeds is the operand of random seeds of n utterances.
func Seeds(n int) op.Array {
	a := op.Array{Shape: []int{n, 2}}
	for u := range n {
		a.Ints = append(a.Ints, seedOf(u).Ints...)
	}
	return a
}

// seedOf is the seed of one utterance, without the batch dimension.
func seedOf(u int) op.Array {
	r := Rand(uint64(7919 + u))
	return Ints([]int{2}, int32(r.Uint32()), int32(r.Uint32()))
}

// elements is the element type of a graph's input with the value a.
func elements(a op.Array) op.DType {
	if a.Ints != nil {
		return op.Int32
	}
	return op.Float32
}

// NewTensor is a as a kernel takes it.
func NewTensor(t op.Type, a op.Array) op.Tensor {
	x := op.Tensor{Shape: t.Shape}
	switch t.Of {
	case op.Int32:
		x.Ints = slices.Clone(a.Ints)
	case op.Float16:
		x.Halves = make([]uint16, len(a.Data))
		for i, v := range a.Data {
			x.Halves[i] = halfBits(v)
		}
	case op.Float64:
		x.Doubles = slices.Clone(a.Data)
	default:
		x.Data = make([]float32, len(a.Data))
		for i, v := range a.Data {
			x.Data[i] = float32(v)
		}
	}
	return x
}

// NewArray is x as a specification takes it.
func NewArray(x op.Tensor) op.Array {
	a := op.Array{Ints: slices.Clone(x.Ints), Shape: x.Shape}
	for _, v := range x.Data {
		a.Data = append(a.Data, float64(v))
	}
	for _, v := range x.Halves {
		a.Data = append(a.Data, halfValue(v))
	}
	a.Data = append(a.Data, x.Doubles...)
	return a
}

// dirty is a tensor of memory that nobody wrote: NaN, or a number that no result is.
func dirty(t op.Type) op.Tensor {
	n := t.Elements()
	x := op.Tensor{Shape: t.Shape}
	switch t.Of {
	case op.Int32:
		x.Ints = slices.Repeat([]int32{-0x5a5a5a5a}, n)
	case op.Float16:
		x.Halves = slices.Repeat([]uint16{halfBits(math.NaN())}, n)
	case op.Float64:
		x.Doubles = slices.Repeat([]float64{math.NaN()}, n)
	default:
		x.Data = nans(n)
	}
	return x
}

// blank is memory for a specification's result.
func blank(t op.Type) op.Array {
	if t.Of == op.Int32 {
		return op.Array{Ints: make([]int32, t.Elements()), Shape: t.Shape}
	}
	return op.Array{Data: make([]float64, t.Elements()), Shape: t.Shape}
}

func nans(n int) []float32 { return slices.Repeat([]float32{float32(math.NaN())}, n) }

func clone(x op.Tensor) op.Tensor {
	x.Data, x.Ints, x.Halves, x.Doubles = slices.Clone(x.Data), slices.Clone(x.Ints), slices.Clone(x.Halves), slices.Clone(x.Doubles)
	return x
}

func clones(in []op.Tensor) []op.Tensor {
	out := make([]op.Tensor, len(in))
	for i, x := range in {
		out[i] = clone(x)
	}
	return out
}

// Same is an error if two tensors differ in a bit. NaN is like any other, and 0 like -0: sums that begin with either
// are the same from the next number on.
func Same(got, want op.Tensor) error { return same(NewArray(got), NewArray(want)) }

func same(a, b op.Array) error {
	if len(a.Data) != len(b.Data) || !slices.Equal(a.Ints, b.Ints) {
		return fmt.Errorf("%d floats and the integers %v, want %d and %v", len(a.Data), a.Ints, len(b.Data), b.Ints)
	}
	for i, v := range b.Data {
		if a.Data[i] != v && !(math.IsNaN(a.Data[i]) && math.IsNaN(v)) {
			return fmt.Errorf("element %d is %g, want %g", i, a.Data[i], v)
		}
	}
	return nil
}

// Close is an error if got differs from want by more than tol times the largest finite value of want, anywhere. What is
// not finite must be the same.
func Close(got, want []float64, tol float64) error { return bound{tol: tol}.check(got, want) }

// bound is how far a value may be off: by tol times size, and by unit times the value itself.
type bound struct {
	tol, size float64 // size 0 is the largest finite value that is wanted
	unit      float64 // half a unit in the last place, for values that are rounded to float16
}

// halfUnit is how far rounding to float16 takes a value, relative to the value, or to the smallest normal number
// smallestHalf for those below it.
const (
	halfUnit     = 0x1p-11
	smallestHalf = 0x1p-14
)

func (b bound) check(got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	size := b.size
	if size == 0 {
		size = 1e-30
		for _, v := range want {
			if v-v == 0 {
				size = max(size, math.Abs(v))
			}
		}
	}
	for i, v := range want {
		if v-v != 0 && (got[i] == v || math.IsNaN(got[i]) && math.IsNaN(v)) {
			continue
		}
		allowed := b.tol*size + b.unit*max(math.Abs(v), smallestHalf)
		if d := math.Abs(got[i] - v); !(d <= allowed) {
			return fmt.Errorf("element %d is %g, want %g (off by %.2g of the largest value, allowed %.2g)", i, got[i], v, d/size, allowed/size)
		}
	}
	return nil
}

// halfValue is the float16 number with these bits.
func halfValue(bits uint16) float64 {
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// halfBits are the bits of a float16 number.
func halfBits(v float64) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign = 1 << 15
	}
	switch {
	case math.IsNaN(v):
		return 0x7e00
	case math.IsInf(v, 0):
		return sign | 0x7c00
	case v == 0:
		return sign
	}
	exponent := max(math.Ilogb(v), -14)
	return sign | uint16((exponent+14)<<10+int(math.Ldexp(math.Abs(v), 10-exponent)))
}

package op

import (
	"math/rand/v2"
	"testing"
)

// benchAttention times the encoder's self-attention over s frames and the decoder's over l tokens.
func benchAttention(b *testing.B, s, l, d, heads int, p float64) {
	r := rng(1)
	type kernel struct {
		name string
		o    *Op
		in   []Tensor
	}
	tensors := func(types []Type) []Tensor {
		var in []Tensor
		for _, t := range types {
			if t.Int {
				v := Tensor{Ints: make([]int32, Size(t.Shape)), Shape: t.Shape}
				for i := range v.Ints {
					v.Ints[i] = int32(max(s, l)) * 4
				}
				in = append(in, v)
				continue
			}
			in = append(in, random(r, t.Shape...))
		}
		return in
	}
	float := func(shape ...int) Type { return Type{Shape: shape} }
	length, keys := Type{Shape: []int{1}, Int: true}, Type{Shape: []int{1, 2}, Int: true}
	a := attention{heads: heads, relative: true, dropping: p > 0, query: span{4, 0}, key: span{4, 0}, drop: Drop{P: p}}
	rel := []Type{float(1, s, d), float(1, s, d), float(1, s, d), float(2*s-1, d), float(heads, d/heads), float(heads, d/heads), length, length}
	c := attention{heads: heads, causal: true, dropping: p > 0, query: span{4, 1}, key: span{4, 1}, drop: Drop{P: p}}
	self := []Type{float(1, l, d), float(1, l, d), float(1, l, d), length, length}
	if p > 0 {
		rel, self = append(rel, keys), append(self, keys)
	}
	var kernels []kernel
	add := func(name string, make func([]Type) (*Op, error), types []Type) {
		o, err := make(types)
		if err != nil {
			b.Fatal(err)
		}
		kernels = append(kernels, kernel{name, o, tensors(types)})
	}
	add("relative", a.op, rel)
	add("relative.grad", a.gradOp, append([]Type{rel[0]}, rel...))
	add("causal", c.op, self)
	add("causal.grad", c.gradOp, append([]Type{self[0]}, self...))
	for _, k := range kernels {
		b.Run(k.name, func(b *testing.B) {
			e := &Env{BLAS: NewBLAS(), Scratch: make([]float32, k.o.Scratch)}
			out := Tensor{Data: make([]float32, Size(k.o.Out)), Shape: k.o.Out}
			for b.Loop() {
				k.o.Run(e, out, k.in)
			}
			b.ReportMetric(k.o.FLOPs*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

func random(r *rand.Rand, shape ...int) Tensor { return floats(r, shape...).tensor() }

func BenchmarkAttention(b *testing.B) {
	b.Run("drop", func(b *testing.B) { benchAttention(b, 150, 80, 192, 4, 0.1) })
	b.Run("plain", func(b *testing.B) { benchAttention(b, 150, 80, 192, 4, 0) })
	b.Run("long", func(b *testing.B) { benchAttention(b, 1500, 400, 192, 4, 0.1) })
}

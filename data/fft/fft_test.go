package fft

import (
	"fmt"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"konkanitrain/internal/testkit"
)

// random is n complex numbers of unit noise.
func random(n int) []complex128 {
	x, z := testkit.Normal[float64](uint64(n), 2*n), make([]complex128, n)
	for i := range z {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	return z
}

// A transform is the sum that defines it, and that of gonum where the sum takes too long.
func TestTransform(t *testing.T) {
	for n := 4; n <= 1<<16; n *= 2 {
		x := random(n)
		got := New(n).Transform(append([]complex128(nil), x...), make([]complex128, n))
		want := fourier.NewCmplxFFT(n).Coefficients(nil, x)
		if n <= 256 {
			for k := range want {
				want[k] = 0
				for j, v := range x {
					want[k] += v * Unit(j*k%n, n)
				}
			}
		}
		// Two float64 transforms of unit noise, whose values are about sqrt(2n): rounding only.
		for k := range want {
			if !(cmplx.Abs(got[k]-want[k]) <= 1e-15*float64(n)+1e-12) {
				t.Fatalf("%d numbers: %d is %v, want %v", n, k, got[k], want[k])
			}
		}
	}
}

// What a Plan says that it takes is what its tables hold.
func TestBytes(t *testing.T) {
	for n := 4; n <= 1<<16; n *= 2 {
		numbers := 0
		for _, q := range New(n).passes {
			numbers += cap(q.w)
		}
		if said := Bytes(n); said < 16*int64(numbers) || said > 16*int64(numbers+3) {
			t.Errorf("%d numbers: said %d bytes, the tables hold %d", n, said, 16*numbers)
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, n := range []int{256, 1 << 13, 1 << 15} {
		x, y, p := random(n), make([]complex128, n), New(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				p.Transform(x, y)
			}
		})
	}
}

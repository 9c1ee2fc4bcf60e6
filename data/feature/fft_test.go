package feature

import (
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"konkanitrain/internal/testkit"
)

func TestPowerMatchesGonum(t *testing.T) {
	for n := 8; n <= 4096; n *= 2 {
		x := testkit.Normal[float64](uint64(n), n)
		f := newRealFFT(n)
		for i := range f.a {
			f.a[i] = complex(x[2*i], x[2*i+1])
		}
		got := make([]float64, n/2)
		f.power(got)
		want := make([]float64, n/2)
		for k, c := range fourier.NewFFT(n).Coefficients(nil, x)[:n/2] {
			want[k] = cmplx.Abs(c) * cmplx.Abs(c)
		}
		// Two float64 transforms of unit noise: rounding only.
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-12*float64(n) {
				t.Fatalf("%d points: bin %d is %v, gonum gives %v", n, k, got[k], want[k])
			}
		}
	}
}

func BenchmarkFFT512(b *testing.B) {
	x := testkit.Normal[float64](1, 512)
	b.Run("own", func(b *testing.B) {
		f, dst := newRealFFT(512), make([]float64, 256)
		for b.Loop() {
			for i := range f.a {
				f.a[i] = complex(x[2*i], x[2*i+1])
			}
			f.power(dst)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		f, c, dst := fourier.NewFFT(512), make([]complex128, 257), make([]float64, 256)
		for b.Loop() {
			f.Coefficients(c, x)
			for k, v := range c[:256] {
				dst[k] = real(v)*real(v) + imag(v)*imag(v)
			}
		}
	})
}

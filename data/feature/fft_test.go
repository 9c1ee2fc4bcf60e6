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
			if !(math.Abs(got[k]-want[k]) <= 1e-12*float64(n)) {
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

func TestLogMatchesTheLibrary(t *testing.T) {
	l := newLogTable()
	r := testkit.Rand(1)
	for range 200_000 {
		x := math.Exp(r.Float64()*80 - 20)
		if got, want := l.at(x), math.Log(x); !(math.Abs(got-want) <= 4e-16*max(1, math.Abs(want))) {
			t.Fatalf("ln %v is %v, math.Log gives %v", x, got, want)
		}
	}
	for _, x := range []float64{1, math.E, LogFloor, 0x1p-1022, math.MaxFloat64, math.Nextafter(1, 0), math.Nextafter(1, 2), 2, math.Nextafter(2, 0)} {
		if got, want := l.at(x), math.Log(x); !(math.Abs(got-want) <= 4e-16*max(1, math.Abs(want))) {
			t.Errorf("ln %v is %v, math.Log gives %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Inf(1), 5e-324} {
		if got, want := l.at(x), math.Log(x); got != want {
			t.Errorf("ln %v is %v, math.Log gives %v", x, got, want)
		}
	}
	if v := l.at(math.NaN()); v == v {
		t.Errorf("ln NaN is %v", v)
	}
}

func BenchmarkLog(b *testing.B) {
	x := testkit.Uniform[float64](1, 1024, 1e-3, 1e9)
	y := make([]float64, len(x))
	l := newLogTable()
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				y[i] = l.at(v)
			}
		}
	})
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				y[i] = math.Log(v)
			}
		}
	})
}

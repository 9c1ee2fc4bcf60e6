//go:build unix

package simd

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// processorTime is that of this process in seconds, which other work on the machine disturbs less than wall time.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec) + 1e-6*float64(u.Utime.Usec) + float64(u.Stime.Sec) + 1e-6*float64(u.Stime.Usec)
}

// reference measures for some milliseconds what a unit's rate can be at most, by the best tier: fused multiply-adds in
// registers for GFLOP, and for GB a triad dst = a + alpha*b over slices of streamed floats, read, read and written.
func reference(b *testing.B, unit string) float64 {
	work, start, passed := 0.0, processorTime(b), 0.0
	for passed < 0.005 {
		switch unit {
		case "GFLOP":
			work += peakFlops(tiers()[0].name, 2e4)
		case "GB":
			tiers()[0].addScaled(triad[0], triad[1], 0.5, triad[2])
			work += 12 * streamed
		}
		passed = processorTime(b) - start
	}
	return work / passed / 1e9
}

// streamed is how many floats the benchmarks of elementwise functions go through: a feed-forward layer's activations
// of an utterance. They lie in the last-level cache.
const streamed = 400 * 768

var triad = [3][]float32{aligned(streamed), aligned(streamed), aligned(streamed)}

// measure runs f with every tier that this CPU has; unit is GFLOP or GB, and each call of f counts as work of them. The
// share is of the reference, measured before and after.
func measure(b *testing.B, unit string, work float64, f func()) {
	for _, name := range tierNames() {
		b.Run(name, func(b *testing.B) {
			useTier(b, name)
			runtime.GC()
			f()
			most := reference(b, unit)
			start := processorTime(b)
			for b.Loop() {
				f()
			}
			rate := work * float64(b.N) / (processorTime(b) - start) / 1e9
			most = (most + reference(b, unit)) / 2
			b.ReportMetric(rate, unit+"/s")
			if most > 0 {
				b.ReportMetric(100*rate/most, "%ofpeak")
			}
		})
	}
}

// BenchmarkPeak measures what the shares are relative to.
func BenchmarkPeak(b *testing.B) {
	for _, unit := range []string{"GFLOP", "GB"} {
		b.Run(unit, func(b *testing.B) {
			total := 0.0
			for b.Loop() {
				total += reference(b, unit)
			}
			b.ReportMetric(total/float64(b.N), unit+"/s")
		})
	}
}

func randoms(r *rand.Rand, n int) []float32 {
	x := aligned(n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// BenchmarkSgemm measures the products of the network: N and T say how A and B lie.
func BenchmarkSgemm(b *testing.B) {
	for _, s := range []struct {
		m, n, k int
		how     string
	}{
		{400, 768, 192, "NT"}, {400, 192, 768, "NT"}, {192, 768, 400, "TN"}, {400, 192, 768, "NN"},
		{200, 192, 192, "NT"}, {200, 192, 192, "NN"}, {200, 200, 48, "NT"}, {200, 48, 200, "NN"}, {200, 48, 200, "TN"},
		{64, 400, 48, "NT"}, {64, 48, 400, "NN"}, {20, 768, 192, "NT"}, {50, 192, 192, "NT"}, {33, 33, 48, "NT"},
		{37, 48, 37, "NN"}, {5, 192, 192, "NT"}, {1, 192, 768, "NT"}, {400, 1024, 256, "NT"}, {400, 256, 1024, "NN"},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d%s", s.m, s.n, s.k, s.how), func(b *testing.B) {
			r := source(5)
			x, y, c, w := randoms(r, s.m*s.k), randoms(r, s.k*s.n), aligned(s.m*s.n), NewWorkspace()
			tA, tB, lda, ldb := blas.NoTrans, blas.NoTrans, s.k, s.n
			if s.how[0] == 'T' {
				tA, lda = blas.Trans, s.m
			}
			if s.how[1] == 'T' {
				tB, ldb = blas.Trans, s.k
			}
			measure(b, "GFLOP", 2*float64(s.m*s.n*s.k), func() {
				w.Sgemm(tA, tB, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, c, s.n)
			})
		})
	}
}

// BenchmarkElementwise counts the bytes read and written.
func BenchmarkElementwise(b *testing.B) {
	r := source(6)
	const rows, d = 400, 768
	x, y, z := randoms(r, streamed), randoms(r, streamed), randoms(r, streamed)
	out, out2 := aligned(streamed), aligned(streamed)
	drop := Drop{Key: 1, Site: 2, Threshold: 6554}
	eachRow := func(f func(row int, at int)) func() {
		return func() {
			for row := range rows {
				f(row, row*d)
			}
		}
	}
	half := make([]uint16, streamed)
	for _, o := range []struct {
		name  string
		bytes int // for each element
		f     func()
	}{
		{"Add", 12, func() { Add(out, x, y) }},
		{"Axpy", 12, func() { Axpy(out, 0.5, x) }},
		{"Scale", 8, func() { Scale(out, 0.5, x) }},
		{"MulAdd", 16, func() { MulAdd(out, x, y) }},
		{"Relu", 8, func() { Relu(out, x) }},
		{"Exp", 8, func() { Exp(out, x) }},
		{"Swish", 8, func() { Swish(out, x) }},
		{"SwishGrad", 12, func() { SwishGrad(out, x, y) }},
		{"GLU", 12, func() { GLU(out, x, y) }},
		{"GLUGrad", 20, func() { GLUGrad(out, out2, x, y, z) }},
		{"Dropout", 8, eachRow(func(r, at int) { Dropout(out[at:][:d], x[at:], uint32(r), drop) })},
		{"AddDropout", 12, eachRow(func(r, at int) { AddDropout(out[at:][:d], x[at:], 0.5, y[at:], uint32(r), drop) })},
		{"SwishDropout", 8, eachRow(func(r, at int) { SwishDropout(out[at:][:d], x[at:], uint32(r), drop) })},
		{"SwishDropoutGrad", 12, eachRow(func(r, at int) { SwishDropoutGrad(out[at:][:d], x[at:], y[at:], uint32(r), drop) })},
		{"SetRows", 4, func() { SetRows(out, rows, x[:d]) }},
		{"ColumnSum", 4, func() { ColumnSum(out[:d], x, rows) }},
		{"Sum", 4, func() { Sum(x) }},
		{"SumSquares", 4, func() { SumSquares(x) }},
		{"Max", 4, func() { Max(x) }},
		{"ToHalf", 6, func() { ToHalf(half, x) }},
		{"FromHalf", 6, func() { FromHalf(out, half) }},
	} {
		b.Run(o.name, func(b *testing.B) { measure(b, "GB", float64(o.bytes)*streamed, o.f) })
	}
}

// BenchmarkRows measures rows of attention (200) and of the model (192, 256) in a matrix of many.
func BenchmarkRows(b *testing.B) {
	r := source(7)
	for _, d := range []int{200, 192, 256} {
		n := streamed / d
		x, y, z, out := randoms(r, streamed), randoms(r, streamed), randoms(r, streamed), aligned(streamed)
		gamma, beta, dgamma, dbeta := randoms(r, d), randoms(r, d), randoms(r, d), randoms(r, d)
		for _, o := range []struct {
			name  string
			bytes int
			f     func(at int)
		}{
			{"Softmax", 8, func(at int) { Softmax(out[at:][:d], x[at:]) }},
			{"LogSoftmax", 8, func(at int) { LogSoftmax(out[at:][:d], x[at:]) }},
			{"SoftmaxGrad", 12, func(at int) { SoftmaxGrad(out[at:][:d], x[at:], y[at:]) }},
			{"LayerNorm", 8, func(at int) { LayerNorm(out[at:][:d], x[at:], gamma, beta, 1e-5) }},
			{"LayerNormGrad", 12, func(at int) { LayerNormGrad(out[at:][:d], dgamma, dbeta, x[at:], gamma, z[at:], 1e-5) }},
			{"Dropout", 8, func(at int) { Dropout(out[at:][:d], x[at:], uint32(at), Drop{Key: 1, Threshold: 6554}) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", o.name, d), func(b *testing.B) {
				measure(b, "GB", float64(o.bytes*n*d), func() {
					for row := range n {
						o.f(row * d)
					}
				})
			})
		}
	}
}

func BenchmarkDepthwise(b *testing.B) {
	r := source(8)
	for _, s := range []struct{ t, d, k int }{{400, 192, 31}, {400, 192, 15}, {400, 192, 5}, {200, 256, 31}, {200, 96, 31}, {37, 192, 31}} {
		x, dy, y := randoms(r, s.t*s.d), randoms(r, s.t*s.d), aligned(s.t*s.d)
		w, bias, dw, dbias := randoms(r, s.k*s.d), randoms(r, s.d), randoms(r, s.k*s.d), randoms(r, s.d)
		flops := 2 * float64(s.t*s.d*s.k)
		for _, o := range []struct {
			name string
			f    func()
		}{
			{"Forward", func() { Depthwise(y, x, w, bias, s.t, s.d, s.k) }},
			{"Input", func() { DepthwiseGradInput(y, dy, w, s.t, s.d, s.k) }},
			{"Weight", func() { DepthwiseGradWeight(dw, dbias, x, dy, s.t, s.d, s.k) }},
		} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", o.name, s.t, s.d, s.k), func(b *testing.B) { measure(b, "GFLOP", flops, o.f) })
		}
	}
}

// BenchmarkAdamW goes through more than the caches hold, as the optimizer does.
func BenchmarkAdamW(b *testing.B) {
	const n = 8 << 20
	r := source(9)
	p, m, v, g := aligned(n), aligned(n), aligned(n), randoms(r, n)
	a := AdamStep{LR: 1e-6, Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, Correct1: 1, Correct2: 1, GradScale: 1}
	b.Run("update", func(b *testing.B) { measure(b, "GB", 28*n, func() { AdamW(p, m, v, g, a) }) })
	b.Run("triad", func(b *testing.B) {
		measure(b, "GB", 12*n, func() { AddScaled(p, m, 0.5, v) })
	})
}

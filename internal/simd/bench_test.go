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

// startClock returns a reading of the processor time of this process in seconds, which other work on the machine
// disturbs less than wall time.
func startClock(b *testing.B) func() float64 {
	runtime.GC()
	now := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Sec) + 1e-6*float64(u.Utime.Usec) + float64(u.Stime.Sec) + 1e-6*float64(u.Stime.Usec)
	}
	start := now()
	return func() float64 { return now() - start }
}

// measure runs f with every tier that this CPU has; unit is GFLOP or GB, and each call of f counts as work of them.
func measure(b *testing.B, unit string, work float64, f func()) {
	for _, name := range Tiers() {
		b.Run(name, func(b *testing.B) {
			useTier(b, name)
			f()
			clock := startClock(b)
			for b.Loop() {
				f()
			}
			b.ReportMetric(work*float64(b.N)/clock()/1e9, unit+"/s")
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

package simd

import (
	"time"

	"gonum.org/v1/gonum/blas"
)

// Limits measures what one core can do at best in the tier in use: floating-point operations a second of fused
// multiply-adds in registers (in plain Go: of a product that fits into the first-level cache), and bytes a second, read
// and written, of a sum of slices that fit into the second-level cache. It takes some 50 milliseconds.
func Limits() (flops, bytes float64) {
	const size = 96
	a, b, c := aligned(size*size), aligned(size*size), aligned(size*size)
	w := NewWorkspace()
	flops = best(func() float64 {
		if n := peakFlops(Name(), 5e4); n > 0 {
			return n
		}
		w.Sgemm(blas.NoTrans, blas.NoTrans, size, size, size, 1, a, size, b, size, 0, c, size)
		return 2 * size * size * size
	})
	const words = 1 << 15 // 3 slices of 128 KB
	x, y, z := aligned(words), aligned(words), aligned(words)
	bytes = best(func() float64 {
		for range 16 {
			Add(z, x, y)
		}
		return 16 * 3 * 4 * words
	})
	return flops, bytes
}

// best is the highest rate of many short measurements, the first of which warms up.
func best(work func() float64) float64 {
	rate := 0.0
	for start := time.Now(); time.Since(start) < 25*time.Millisecond; {
		t := time.Now()
		n := work()
		rate = max(rate, n/max(time.Since(t).Seconds(), 1e-9))
	}
	return rate
}

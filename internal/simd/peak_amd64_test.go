//go:build unix

package simd

import "testing"

// peakFlops runs n rounds of fused multiply-adds of the tier in use and returns the number of operations.
func peakFlops(n int) float64 {
	switch Name() {
	case "avx512":
		peakAVX512(n)
		return 2 * 12 * 16 * float64(n)
	case "avx2":
		peakAVX2(n)
		return 2 * 12 * 8 * float64(n)
	}
	return 0
}

// BenchmarkPeak measures what the share of the peak is relative to: fused multiply-adds in registers.
func BenchmarkPeak(b *testing.B) {
	for _, name := range Tiers()[:len(Tiers())-1] {
		b.Run(name, func(b *testing.B) {
			useTier(b, name)
			clock := startClock(b)
			flops := 0.0
			for b.Loop() {
				flops += peakFlops(1e5)
			}
			b.ReportMetric(flops/clock()/1e9, "GFLOP/s")
		})
	}
}

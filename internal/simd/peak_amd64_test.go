package simd

// peakFlops runs n rounds of fused multiply-adds in registers, of the best tier, and returns the number of operations.
func peakFlops(n int) float64 {
	switch tiers()[0].name {
	case "avx512":
		peakAVX512(n)
		return 2 * 12 * 16 * float64(n)
	case "avx2":
		peakAVX2(n)
		return 2 * 12 * 8 * float64(n)
	}
	return 0
}

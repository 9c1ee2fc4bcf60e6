package simd

// peakFlops runs n rounds of fused multiply-adds in registers, of a tier, and returns the number of
// operations: 0 for plain Go, whose compiler keeps no vectors in registers.
func peakFlops(tier string, n int) float64 {
	switch tier {
	case "avx512":
		peakAVX512(n)
		return 2 * 12 * 16 * float64(n)
	case "avx2":
		peakAVX2(n)
		return 2 * 12 * 8 * float64(n)
	}
	return 0
}

//go:build !amd64

package simd

// peakFlops is unknown: there is no assembly for this processor.
func peakFlops(string, int) float64 { return 0 }

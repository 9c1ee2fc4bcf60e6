package simd

// toHalfWith completes a conversion of whole vectors of the given number of lanes.
func toHalfWith(lanes int, f func(dst []uint16, x []float32)) func(dst []uint16, x []float32) {
	return func(dst []uint16, x []float32) {
		f(dst, x)
		rest := len(dst) &^ (lanes - 1)
		toHalfPlain(dst[rest:], x[rest:])
	}
}

// fromHalfWith is toHalfWith for the other direction.
func fromHalfWith(lanes int, f func(dst []float32, x []uint16)) func(dst []float32, x []uint16) {
	return func(dst []float32, x []uint16) {
		f(dst, x)
		rest := len(dst) &^ (lanes - 1)
		fromHalfPlain(dst[rest:], x[rest:])
	}
}

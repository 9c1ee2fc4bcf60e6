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

// adamWWith computes what is the same for all elements.
func adamWWith(f func(p, m, v, g []float32, scale, beta1, rest1, beta2, rest2, rate, correct2, eps, shrink float32)) func(p, m, v, g []float32, a AdamStep) {
	return func(p, m, v, g []float32, a AdamStep) {
		f(p, m, v, g, a.GradScale, a.Beta1, 1-a.Beta1, a.Beta2, 1-a.Beta2, a.LR*a.Correct1, a.Correct2, a.Eps, 1-a.LR*a.Decay)
	}
}

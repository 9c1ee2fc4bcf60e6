package simd

// adamWWith computes what is the same for all elements.
func adamWWith(f func(p, m, v, g []float32, scale, beta1, rest1, beta2, rest2, rate, correct2, eps, shrink float32)) func(p, m, v, g []float32, a AdamStep) {
	return func(p, m, v, g []float32, a AdamStep) {
		f(p, m, v, g, a.GradScale, a.Beta1, 1-a.Beta1, a.Beta2, 1-a.Beta2, a.LR*a.Correct1, a.Correct2, a.Eps, 1-a.LR*a.Decay)
	}
}

package op

func residualRef(batch int, alpha float32, d Drop) func(Array, []Array) {
	return func(z Array, in []Array) {
		factors := residualFactors(batch, alpha, d, in[2:], len(z.Data))
		for i, x := range in[0].Data {
			z.Data[i] = x + factors[i]*in[1].Data[i]
		}
	}
}

func residualGradRef(batch int, alpha float32, d Drop) func(Array, []Array) {
	return func(dy Array, in []Array) {
		factors := residualFactors(batch, alpha, d, in[1:], len(dy.Data))
		for i, dz := range in[0].Data {
			dy.Data[i] = factors[i] * dz
		}
	}
}

// residualFactors is alpha times the dropout factor of each of n elements; keys is empty without dropout.
func residualFactors(batch int, alpha float32, d Drop, keys []Array, n int) []float64 {
	f := make([]float64, n)
	for i := range f {
		f[i] = 1
	}
	if len(keys) > 0 {
		f = d.factors(keys[0].Ints, batch, n)
	}
	for i := range f {
		f[i] *= float64(alpha)
	}
	return f
}

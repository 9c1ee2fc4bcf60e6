package op

func (s residual) ref(z Array, in []Array) {
	factors := s.factors(in[2:], len(z.Data))
	for i, x := range in[0].Data {
		z.Data[i] = x + factors[i]*in[1].Data[i]
	}
}

func (s residualGrad) ref(dy Array, in []Array) {
	factors := s.factors(in[1:], len(dy.Data))
	for i, dz := range in[0].Data {
		dy.Data[i] = factors[i] * dz
	}
}

// factors is alpha times the dropout factor of each of n elements, and of the branch; seeds is empty without dropout.
func (s residualShape) factors(seeds []Array, n int) []float64 {
	f := make([]float64, n)
	for i := range f {
		f[i] = 1
	}
	if len(seeds) > 0 {
		f = s.d.factors(seeds[0].Ints, s.batch, n)
		for i := range f {
			if s.d.dropsBranch(seeds[0].Ints, i/s.elements) {
				f[i] = 0
			} else {
				f[i] *= keptScale(s.d.Branch)
			}
		}
	}
	for i := range f {
		f[i] *= float64(s.alpha)
	}
	return f
}

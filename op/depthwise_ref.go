package op

func (s depthwise) ref(y Array, in []Array) {
	x, w, bias := in[0].Data, in[1].Data, in[2].Data
	for i := range y.Data {
		y.Data[i] = bias[i%s.d]
	}
	s.each(func(out, in, tap int) { y.Data[out] += w[tap] * x[in] })
}

func (s depthwiseGradInput) ref(dx Array, in []Array) {
	dy, w := in[0].Data, in[1].Data
	clear(dx.Data)
	s.each(func(out, in, tap int) { dx.Data[in] += w[tap] * dy[out] })
}

func (s depthwiseGradWeight) ref(dw Array, in []Array) {
	dy, x := in[0].Data, in[1].Data
	clear(dw.Data)
	s.each(func(out, in, tap int) { dw.Data[tap] += dy[out] * x[in] })
}

// each calls term for each product of the convolution: the indices of y, x and w that meet in it.
func (s depthwiseShape) each(term func(out, in, tap int)) {
	for b := range s.b {
		for t := range s.t {
			for c := range s.d {
				for j := range s.k {
					if u := t + j - (s.k-1)/2; u >= 0 && u < s.t {
						term((b*s.t+t)*s.d+c, (b*s.t+u)*s.d+c, c*s.k+j)
					}
				}
			}
		}
	}
}

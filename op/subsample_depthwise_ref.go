package op

// Indices below: y[b][t][f][c], x[b][u][h][c], w[c][tap].

func (s subsampleDepthwise) ref(y Array, in []Array) {
	x, w, bias := in[0].Data, in[1].Data, in[2].Data
	for i := range y.Data {
		y.Data[i] = bias[i%s.c]
	}
	for b := range s.b {
		s.each(in[3].Ints, b, func(t, f, u, h, tap int) {
			for c := range s.c {
				y.Data[((b*s.tOut()+t)*s.fOut()+f)*s.c+c] += w[c*9+tap] * x[((b*s.t+u)*s.f+h)*s.c+c]
			}
		})
	}
}

func (s subsampleDepthwiseGradInput) ref(dx Array, in []Array) {
	dy, w := in[0].Data, in[1].Data
	clear(dx.Data)
	for b := range s.b {
		s.each(in[2].Ints, b, func(t, f, u, h, tap int) {
			for c := range s.c {
				dx.Data[((b*s.t+u)*s.f+h)*s.c+c] += w[c*9+tap] * dy[((b*s.tOut()+t)*s.fOut()+f)*s.c+c]
			}
		})
	}
}

func (s subsampleDepthwiseGradWeight) ref(dw Array, in []Array) {
	dy, x := in[0].Data, in[1].Data
	clear(dw.Data)
	for b := range s.b {
		s.each(in[2].Ints, b, func(t, f, u, h, tap int) {
			for c := range s.c {
				dw.Data[c*9+tap] += dy[((b*s.tOut()+t)*s.fOut()+f)*s.c+c] * x[((b*s.t+u)*s.f+h)*s.c+c]
			}
		})
	}
}

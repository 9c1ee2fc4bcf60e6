package op

// Indices below: y[b][t][f][c], x[b][u][h], w[c][tap].

func (s subsampleConv) ref(y Array, in []Array) {
	x, w, bias := in[0].Data, in[1].Data, in[2].Data
	for i := range y.Data {
		y.Data[i] = bias[i%s.c]
	}
	for b := range s.b {
		s.each(in[3].Ints, b, func(t, f, u, h, tap int) {
			for c := range s.c {
				y.Data[((b*s.tOut()+t)*s.fOut()+f)*s.c+c] += w[c*9+tap] * x[(b*s.t+u)*s.f+h]
			}
		})
	}
	for i, v := range y.Data {
		y.Data[i] = max(v, 0)
	}
}

func (s subsampleConvGradInput) ref(dx Array, in []Array) {
	g, w := in[0].Data, in[1].Data
	clear(dx.Data)
	for b := range s.b {
		s.each(in[2].Ints, b, func(t, f, u, h, tap int) {
			for c := range s.c {
				dx.Data[(b*s.t+u)*s.f+h] += w[c*9+tap] * g[((b*s.tOut()+t)*s.fOut()+f)*s.c+c]
			}
		})
	}
}

func (s subsampleConvGradWeight) ref(dw Array, in []Array) {
	g, x := in[0].Data, in[1].Data
	clear(dw.Data)
	for b := range s.b {
		s.each(in[2].Ints, b, func(t, f, u, h, tap int) {
			for c := range s.c {
				dw.Data[c*9+tap] += g[((b*s.tOut()+t)*s.fOut()+f)*s.c+c] * x[(b*s.t+u)*s.f+h]
			}
		})
	}
}

package op

func (s embed) ref(y Array, in []Array) {
	for b := range s.batch {
		for l := range s.u + 1 {
			for c := range s.d {
				y.Data[(b*(s.u+1)+l)*s.d+c] = s.scale()*in[1].Data[s.token(in[0].Ints, b, l)*s.d+c] + in[2].Data[l*s.d+c]
			}
		}
	}
}

func (s embedGrad) ref(dw Array, in []Array) {
	clear(dw.Data)
	for b := range s.batch {
		for l := range s.u + 1 {
			for c := range s.d {
				dw.Data[s.token(in[1].Ints, b, l)*s.d+c] += s.scale() * in[0].Data[(b*(s.u+1)+l)*s.d+c]
			}
		}
	}
}

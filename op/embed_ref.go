package op

func (s embedShape) ref(y Array, in []Array) {
	pe := sinusoid(0, 1, s.u+1, s.d)
	for b := range s.batch {
		for l := range s.u + 1 {
			for c := range s.d {
				y.Data[(b*(s.u+1)+l)*s.d+c] = s.scale()*in[1].Data[s.token(in[0].Ints, b, l)*s.d+c] + pe[l*s.d+c]
			}
		}
	}
}

func (s embedShape) gradRef(dw Array, in []Array) {
	clear(dw.Data)
	for b := range s.batch {
		for l := range s.u + 1 {
			for c := range s.d {
				dw.Data[s.token(in[1].Ints, b, l)*s.d+c] += s.scale() * in[0].Data[(b*(s.u+1)+l)*s.d+c]
			}
		}
	}
}

package op

func (s glu) ref(y Array, in []Array) {
	x := in[0].Data
	for b := range s.b {
		for t := range s.t {
			for j := range s.d {
				at := b*s.t + t
				y.Data[at*s.d+j] = 0
				if t < valid(in[1].Ints, b, s.factor, s.t) {
					y.Data[at*s.d+j] = x[at*2*s.d+j] * sigmoid(x[at*2*s.d+s.d+j])
				}
			}
		}
	}
}

func (s gluGrad) ref(dx Array, in []Array) {
	x, dy := in[0].Data, in[2].Data
	for b := range s.b {
		for t := range s.t {
			for j := range s.d {
				at := b*s.t + t
				first, second := at*2*s.d+j, at*2*s.d+s.d+j
				dx.Data[first], dx.Data[second] = 0, 0
				if t < valid(in[1].Ints, b, s.factor, s.t) {
					gate := sigmoid(x[second])
					dx.Data[first] = dy[at*s.d+j] * gate
					dx.Data[second] = dy[at*s.d+j] * x[first] * gate * (1 - gate)
				}
			}
		}
	}
}

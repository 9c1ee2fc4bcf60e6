package op

func (s linear) ref(y Array, in []Array) {
	n, i, o := s.n, s.i, s.o
	x, w := in[0].Data, in[1].Data
	for r := range n {
		for c := range o {
			s := 0.0
			if len(in) == 3 {
				s = in[2].Data[c]
			}
			for l := range i {
				s += x[r*i+l] * w[c*i+l]
			}
			y.Data[r*o+c] = s
		}
	}
}

func (s linearGradInput) ref(dx Array, in []Array) {
	n, i, o := s.n, s.i, s.o
	dy, w := in[0].Data, in[1].Data
	for r := range n {
		for l := range i {
			s := 0.0
			for c := range o {
				s += dy[r*o+c] * w[c*i+l]
			}
			dx.Data[r*i+l] = s
		}
	}
}

func (s linearGradWeight) ref(dw Array, in []Array) {
	n, i, o := s.n, s.i, s.o
	dy, x := in[0].Data, in[1].Data
	for c := range o {
		for l := range i {
			s := 0.0
			for r := range n {
				s += dy[r*o+c] * x[r*i+l]
			}
			dw.Data[c*i+l] = s
		}
	}
}

func (s columnSum) ref(db Array, in []Array) {
	for c := range s.o {
		db.Data[c] = 0
		for r := range s.n {
			db.Data[c] += in[0].Data[r*s.o+c]
		}
	}
}

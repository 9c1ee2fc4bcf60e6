package op

func (s channelMajor) ref(out Array, in []Array) {
	for i := range s.n {
		for j := range s.r {
			for k := range s.c {
				out.Data[(i*s.c+k)*s.r+j] = in[0].Data[(i*s.r+j)*s.c+k]
			}
		}
	}
}

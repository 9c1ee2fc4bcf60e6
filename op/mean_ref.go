package op

// ref adds exactly, as far as float64 can tell: it loses nothing.
func (meanAdd) ref(out Array, in []Array) {
	for i, sum := range in[0].Data {
		out.Data[i] = sum - in[1].Data[i] + in[2].Data[i]
		in[1].Data[i] = 0
	}
}

func (s meanEnd) ref(out Array, in []Array) {
	for i, sum := range in[0].Data {
		out.Data[i] = sum / float64(s.count)
	}
}

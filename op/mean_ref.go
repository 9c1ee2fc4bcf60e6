package op

// ref keeps the sum in float32, as it has to be, and in lost exactly what that adds to it.
func (meanAdd) ref(out Array, in []Array) {
	for i, sum := range in[0].Data {
		exact := sum - in[1].Data[i] + in[2].Data[i]
		out.Data[i] = float64(float32(exact))
		in[1].Data[i] = out.Data[i] - exact
	}
}

func (s meanEnd) ref(out Array, in []Array) {
	for i, sum := range in[0].Data {
		out.Data[i] = sum / float64(s.count)
	}
}

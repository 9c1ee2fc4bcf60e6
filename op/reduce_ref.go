package op

func (reduce) ref(y Array, in []Array) {
	y.Data[0] = 0
	for i := range in[0].Data {
		for _, other := range in[1:] {
			in[0].Data[i] += other.Data[i]
		}
		y.Data[0] += in[0].Data[i] * in[0].Data[i]
	}
}

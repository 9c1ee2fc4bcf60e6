package op

func (sum) ref(y Array, in []Array) {
	for i, a := range in[0].Data {
		y.Data[i] = a + in[1].Data[i]
	}
}

package op

func (relu) ref(y Array, in []Array) {
	for i, x := range in[0].Data {
		y.Data[i] = max(x, 0)
	}
}

func (reluGrad) ref(dx Array, in []Array) {
	for i, y := range in[0].Data {
		dx.Data[i] = 0
		if y > 0 {
			dx.Data[i] = in[1].Data[i]
		}
	}
}

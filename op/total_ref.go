package op

func (s total) ref(loss Array, in []Array) {
	loss.Data[0] = 0
	for i, w := range s.weights {
		for _, v := range in[i].Data {
			loss.Data[0] += in[len(s.weights)].Data[0] * w * v
		}
	}
}

func (s totalGrad) ref(dx Array, in []Array) {
	for b := range dx.Data {
		dx.Data[b] = in[0].Data[0] * in[1].Data[0] * s.weight
	}
}

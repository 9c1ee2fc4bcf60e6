package op

func totalRef(weights []float64) func(Array, []Array) {
	return func(loss Array, in []Array) {
		loss.Data[0] = 0
		for i, w := range weights {
			for _, v := range in[i].Data {
				loss.Data[0] += in[len(weights)].Data[0] * w * v
			}
		}
	}
}

func totalGradRef(weight float64) func(Array, []Array) {
	return func(dx Array, in []Array) {
		for b := range dx.Data {
			dx.Data[b] = in[0].Data[0] * in[1].Data[0] * weight
		}
	}
}

package op

func totalCPU(weights []float64) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, loss Tensor, in []Tensor) {
		sum := 0.0
		for b := range in[0].Data {
			for i, w := range weights {
				sum += w * float64(in[i].Data[b])
			}
		}
		loss.Data[0] = float32(sum * float64(in[len(weights)].Data[0]))
	}
}

func totalGradCPU(weight float64) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, dx Tensor, in []Tensor) {
		d := float32(weight * float64(in[0].Data[0]) * float64(in[1].Data[0]))
		for b := range dx.Data {
			dx.Data[b] = d
		}
	}
}

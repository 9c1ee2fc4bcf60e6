package op

func (s total) cpu() Kernel     { return Kernel{Run: s.runCPU} }
func (s totalGrad) cpu() Kernel { return Kernel{Run: s.runCPU} }

func (s total) runCPU(_ *Env, loss Tensor, in []Tensor) {
	sum := 0.0
	for b := range in[0].Data {
		for i, w := range s.weights {
			sum += w * float64(in[i].Data[b])
		}
	}
	loss.Data[0] = float32(sum * float64(in[len(s.weights)].Data[0]))
}

func (s totalGrad) runCPU(_ *Env, dx Tensor, in []Tensor) {
	d := float32(s.weight * float64(in[0].Data[0]) * float64(in[1].Data[0]))
	for b := range dx.Data {
		dx.Data[b] = d
	}
}

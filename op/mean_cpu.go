package op

func (s meanAdd) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }
func (s meanEnd) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }

// runCPU converts each result to float32 explicitly, so that no processor fuses two operations into one rounding.
func (meanAdd) runCPU(_ *Env, out Tensor, in []Tensor) {
	sum, lost := in[0].Data, in[1].Data
	for i, v := range in[2].Data {
		y := float32(v - lost[i])
		s := float32(sum[i] + y)
		lost[i] = float32(s-sum[i]) - y
		out.Data[i] = s
	}
}

func (s meanEnd) runCPU(_ *Env, out Tensor, in []Tensor) {
	for i, v := range in[0].Data {
		out.Data[i] = v / float32(s.count)
	}
}

package op

func (s channelMajor) cpu() Kernel { return Kernel{Run: s.runCPU} }

func (s channelMajor) runCPU(_ *Env, out Tensor, in []Tensor) {
	size := s.r * s.c
	for i := range s.n {
		transpose(out.Data[i*size:][:size], in[0].Data[i*size:][:size], s.r, s.c)
	}
}

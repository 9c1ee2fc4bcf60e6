package op

import "konkanitrain/internal/simd"

func (s embed) cpu() Kernel     { return Kernel{Run: s.runCPU} }
func (s embedGrad) cpu() Kernel { return Kernel{Run: s.runCPU, Accumulates: true} }

func (s embed) runCPU(_ *Env, y Tensor, in []Tensor) {
	scale := float32(s.scale())
	targets, w, table := in[0].Ints, in[1].Data, in[2].Data
	for b := range s.batch {
		out := block(y, b, s.batch)
		for l := range s.u + 1 {
			simd.AddScaled(out[l*s.d:][:s.d], table[l*s.d:][:s.d], scale, w[s.token(targets, b, l)*s.d:][:s.d])
		}
	}
}

// runCPU adds the steps in the order of utterances and steps, so that the sum is the same in every run.
func (s embedGrad) runCPU(e *Env, dw Tensor, in []Tensor) {
	e.start(dw.Data)
	scale := float32(s.scale())
	for b := range s.batch {
		dy := block(in[0], b, s.batch)
		for l := range s.u + 1 {
			simd.Axpy(dw.Data[s.token(in[1].Ints, b, l)*s.d:][:s.d], scale, dy[l*s.d:][:s.d])
		}
	}
}

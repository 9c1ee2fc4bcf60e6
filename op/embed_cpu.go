package op

import "konkanitrain/internal/simd"

// cpu is the forward kernel, with the sinusoid of all steps: table [U+1, d].
func (s embedShape) cpu(table []float32) func(*Env, Tensor, []Tensor) {
	scale := float32(s.scale())
	return func(_ *Env, y Tensor, in []Tensor) {
		targets, w := in[0].Ints, in[1].Data
		for b := range s.batch {
			out := block(y, b, s.batch)
			for l := range s.u + 1 {
				simd.AddScaled(out[l*s.d:][:s.d], table[l*s.d:][:s.d], scale, w[s.token(targets, b, l)*s.d:][:s.d])
			}
		}
	}
}

// gradCPU adds the steps in the order of utterances and steps, so that the sum is the same in every run.
func (s embedShape) gradCPU(e *Env, dw Tensor, in []Tensor) {
	e.start(dw.Data)
	scale := float32(s.scale())
	for b := range s.batch {
		dy := block(in[0], b, s.batch)
		for l := range s.u + 1 {
			simd.Axpy(dw.Data[s.token(in[1].Ints, b, l)*s.d:][:s.d], scale, dy[l*s.d:][:s.d])
		}
	}
}

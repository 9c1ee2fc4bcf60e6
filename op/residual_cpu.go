package op

import "konkanitrain/internal/simd"

func (s residual) cpu() Kernel     { return Kernel{Run: s.runCPU, InPlace: []int{1, 0}} }
func (s residualGrad) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }

func (s residual) runCPU(_ *Env, z Tensor, in []Tensor) {
	if len(in) == 2 {
		simd.AddScaled(z.Data, in[0].Data, s.alpha, in[1].Data)
		return
	}
	for b := range s.batch {
		out, x, y := block(z, b, s.batch), block(in[0], b, s.batch), block(in[1], b, s.batch)
		if s.d.dropsBranch(in[2].Ints, b) {
			copy(out, x)
			continue
		}
		simd.AddDropout(out, x, s.kept(), y, 0, s.d.of(in[2].Ints, b))
	}
}

func (s residualGrad) runCPU(_ *Env, dy Tensor, in []Tensor) {
	if len(in) == 1 {
		simd.Scale(dy.Data, s.alpha, in[0].Data)
		return
	}
	for b := range s.batch {
		out := block(dy, b, s.batch)
		if s.d.dropsBranch(in[1].Ints, b) {
			clear(out)
			continue
		}
		simd.Dropout(out, block(in[0], b, s.batch), 0, s.d.of(in[1].Ints, b))
		if kept := s.kept(); kept != 1 {
			simd.Scale(out, kept, out)
		}
	}
}

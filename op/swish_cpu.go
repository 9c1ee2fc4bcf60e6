package op

import "konkanitrain/internal/simd"

func (s swish) cpu() Kernel     { return Kernel{Run: s.runCPU, InPlace: []int{0}} }
func (s swishGrad) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{1, 0}} }

func (s swish) runCPU(_ *Env, y Tensor, in []Tensor) {
	if len(in) == 1 {
		simd.Swish(y.Data, in[0].Data)
		return
	}
	for b := range s.batch {
		simd.SwishDropout(block(y, b, s.batch), block(in[0], b, s.batch), 0, s.d.of(in[1].Ints, b))
	}
}

func (s swishGrad) runCPU(_ *Env, dx Tensor, in []Tensor) {
	if len(in) == 2 {
		simd.SwishGrad(dx.Data, in[0].Data, in[1].Data)
		return
	}
	for b := range s.batch {
		simd.SwishDropoutGrad(block(dx, b, s.batch), block(in[0], b, s.batch), block(in[1], b, s.batch), 0, s.d.of(in[2].Ints, b))
	}
}

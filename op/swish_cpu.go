package op

import "konkanitrain/internal/simd"

func swishCPU(batch int, d Drop) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, y Tensor, in []Tensor) {
		if len(in) == 1 {
			simd.Swish(y.Data, in[0].Data)
			return
		}
		for b := range batch {
			simd.SwishDropout(block(y, b, batch), block(in[0], b, batch), 0, d.of(in[1].Ints, b))
		}
	}
}

func swishGradCPU(batch int, d Drop) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, dx Tensor, in []Tensor) {
		if len(in) == 2 {
			simd.SwishGrad(dx.Data, in[0].Data, in[1].Data)
			return
		}
		for b := range batch {
			simd.SwishDropoutGrad(block(dx, b, batch), block(in[0], b, batch), block(in[1], b, batch), 0, d.of(in[2].Ints, b))
		}
	}
}

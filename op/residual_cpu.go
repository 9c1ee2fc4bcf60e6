package op

import "konkanitrain/internal/simd"

func residualCPU(batch int, alpha float32, d Drop) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, z Tensor, in []Tensor) {
		if len(in) == 2 {
			simd.AddScaled(z.Data, in[0].Data, alpha, in[1].Data)
			return
		}
		for b := range batch {
			simd.AddDropout(block(z, b, batch), block(in[0], b, batch), alpha, block(in[1], b, batch), 0, d.of(in[2].Ints, b))
		}
	}
}

func residualGradCPU(batch int, alpha float32, d Drop) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, dy Tensor, in []Tensor) {
		if len(in) == 1 {
			simd.Scale(dy.Data, alpha, in[0].Data)
			return
		}
		for b := range batch {
			simd.Dropout(block(dy, b, batch), block(in[0], b, batch), 0, d.of(in[1].Ints, b))
			if alpha != 1 {
				simd.Scale(block(dy, b, batch), alpha, block(dy, b, batch))
			}
		}
	}
}

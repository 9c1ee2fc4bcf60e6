package op

import "konkanitrain/internal/simd"

func (relu) cpu() Kernel {
	return Kernel{
		InPlace: []int{0},
		Run:     func(_ *Env, y Tensor, in []Tensor) { simd.Relu(y.Data, in[0].Data) },
	}
}

func (reluGrad) cpu() Kernel {
	return Kernel{
		InPlace: []int{1, 0},
		Run:     func(_ *Env, dx Tensor, in []Tensor) { simd.ReluGrad(dx.Data, in[0].Data, in[1].Data) },
	}
}

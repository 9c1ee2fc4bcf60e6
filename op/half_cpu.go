package op

import "konkanitrain/internal/simd"

func (halfStore) cpu() Kernel {
	return Kernel{Run: func(_ *Env, y Tensor, in []Tensor) { simd.ToHalf(y.Halves, in[0].Data) }}
}

func (halfLoad) cpu() Kernel {
	return Kernel{Run: func(_ *Env, y Tensor, in []Tensor) { simd.FromHalf(y.Data, in[0].Halves) }}
}

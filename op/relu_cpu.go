package op

import "konkanitrain/internal/simd"

func reluCPU(_ *Env, y Tensor, in []Tensor) { simd.Relu(y.Data, in[0].Data) }

func reluGradCPU(_ *Env, dx Tensor, in []Tensor) { simd.ReluGrad(dx.Data, in[0].Data, in[1].Data) }

package op

import "konkanitrain/internal/simd"

// Dimensions below: n rows of d elements.

func layerNormCPU(n, d int) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, y Tensor, in []Tensor) {
		for r := range n {
			simd.LayerNorm(y.Data[r*d:][:d], in[0].Data[r*d:][:d], in[1].Data, in[2].Data, layerNormEps)
		}
	}
}

func layerNormGradCPU(n, d int) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, out Tensor, in []Tensor) {
		dx, dgamma, dbeta := out.Data[:n*d], out.Data[n*d:][:d], out.Data[n*d+d:][:d]
		clear(dgamma)
		clear(dbeta)
		for r := range n {
			simd.LayerNormGrad(dx[r*d:][:d], dgamma, dbeta, in[0].Data[r*d:][:d], in[1].Data, in[2].Data[r*d:][:d], layerNormEps)
		}
	}
}

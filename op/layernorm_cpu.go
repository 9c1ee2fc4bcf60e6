package op

import "konkanitrain/internal/simd"

func (s layerNorm) cpu() Kernel     { return Kernel{Run: s.runCPU, InPlace: []int{0}} }
func (s layerNormGrad) cpu() Kernel { return Kernel{Run: s.runCPU} }

func (s layerNorm) runCPU(_ *Env, y Tensor, in []Tensor) {
	n, d := s.n, s.d
	for r := range n {
		simd.LayerNorm(y.Data[r*d:][:d], in[0].Data[r*d:][:d], in[1].Data, in[2].Data, layerNormEps)
	}
}

func (s layerNormGrad) runCPU(_ *Env, out Tensor, in []Tensor) {
	n, d := s.n, s.d
	dx, dgamma, dbeta := out.Data[:n*d], out.Data[n*d:][:d], out.Data[n*d+d:][:d]
	clear(dgamma)
	clear(dbeta)
	for r := range n {
		simd.LayerNormGrad(dx[r*d:][:d], dgamma, dbeta, in[0].Data[r*d:][:d], in[1].Data, in[2].Data[r*d:][:d], layerNormEps)
	}
}

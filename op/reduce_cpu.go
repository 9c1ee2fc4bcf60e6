package op

import "konkanitrain/internal/simd"

func (s reduce) cpu() Kernel { return Kernel{Run: s.runCPU} }

func (reduce) runCPU(_ *Env, y Tensor, in []Tensor) {
	sum := in[0].Data
	for _, other := range in[1:] {
		simd.Add(sum, sum, other.Data)
	}
	y.Doubles[0] = simd.SumSquares(sum)
}

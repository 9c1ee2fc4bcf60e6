package op

import "konkanitrain/internal/simd"

func (s accumulate) cpu() Kernel { return Kernel{Run: s.runCPU, Accumulates: true} }

func (accumulate) runCPU(e *Env, y Tensor, in []Tensor) {
	if e.Add {
		simd.Add(y.Data, y.Data, in[0].Data)
	} else {
		copy(y.Data, in[0].Data)
	}
}

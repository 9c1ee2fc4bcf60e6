package op

import (
	"unsafe"

	"konkanitrain/internal/simd"
)

func (s adamW) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }

func (adamW) runCPU(_ *Env, p Tensor, in []Tensor) {
	if unsafe.SliceData(p.Data) != unsafe.SliceData(in[0].Data) {
		copy(p.Data, in[0].Data)
	}
	s := adamStep(in[4].Data)
	simd.AdamW(p.Data, in[1].Data, in[2].Data, in[3].Data, simd.AdamStep{
		LR: s.LR, Decay: s.Decay, Beta1: s.Beta1, Beta2: s.Beta2, Eps: s.Eps, GradScale: s.GradScale,
		Correct1: s.Correct1, Correct2: s.Correct2,
	})
}

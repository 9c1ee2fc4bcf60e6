package op

import (
	"unsafe"

	"konkanitrain/internal/simd"
)

func (s ema) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }

func (ema) runCPU(_ *Env, out Tensor, in []Tensor) {
	if unsafe.SliceData(out.Data) != unsafe.SliceData(in[0].Data) {
		copy(out.Data, in[0].Data)
	}
	simd.Approach(out.Data, in[2].Data[0], in[1].Data)
}

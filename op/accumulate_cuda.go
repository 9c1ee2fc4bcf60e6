package op

import "konkanitrain/device/cuda"

func (accumulate) precision() Precision { return Precision{} }

func (s accumulate) cuda(set Setting) Kernel {
	moved := []DType{Float32, Float32}
	if set.Add {
		moved = append(moved, Float32)
	}
	return Kernel{Accumulates: true, Launches: []cuda.Launch{
		byFours("accumulate_f32", s.n, append(pointers(1), addFlag(set)), moved...),
	}}
}

package op

import "konkanitrain/device/cuda"

func (ema) precision() Precision { return Precision{} }

func (s ema) cuda(Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byElements("ema_f32", s.n, 12, 3, cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.Out()), cuda.Int(s.n)),
	}}
}

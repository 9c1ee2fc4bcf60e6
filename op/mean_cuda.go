package op

import "konkanitrain/device/cuda"

func (meanAdd) precision() Precision { return Precision{} }
func (meanEnd) precision() Precision { return Precision{} }

func (s meanAdd) cuda(Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byElements("mean_add", s.n, 20, 4, cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.Out()), cuda.Int(s.n)),
	}}
}

func (s meanEnd) cuda(Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byElements("mean_end", s.n, 8, 4, cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.Out()), cuda.Int(s.n), cuda.Float(float32(s.count))),
	}}
}

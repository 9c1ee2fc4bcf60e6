package op

import "konkanitrain/device/cuda"

func (halfStore) precision() Precision { return Precision{} }
func (halfLoad) precision() Precision  { return Precision{} }

func (s halfStore) cuda(Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{byFours("half_store", s.n, pointers(1), Float32, Float16)}}
}

func (s halfLoad) cuda(Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{byFours("half_load", s.n, pointers(1), Float16, Float32)}}
}

package op

import "konkanitrain/device/cuda"

func (dropout) precision() Precision { return Precision{In: []bool{true, false}, Out: Halved} }

func (s dropout) cuda(set Setting) Kernel {
	args := []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.Out()), cuda.Int(s.elements)}
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byLanes(typed("dropout", set.Out), s.batch, s.elements, append(args, dropArgs(s.d, 1, true)...), set.In[0], set.Out),
	}}
}

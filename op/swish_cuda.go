package op

import "konkanitrain/device/cuda"

func (s swish) precision() Precision     { return Precision{In: []bool{true}, Out: Halved} }
func (s swishGrad) precision() Precision { return Precision{In: []bool{true, true}, Out: Halved} }

func (s swish) cuda(set Setting) Kernel {
	n := s.elements
	args := []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.Out()), cuda.Int(n)}
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byLanes(typed("swish", set.Out), s.batch, n, append(args, dropArgs(s.d, 1, len(set.In) == 2)...), set.In[0], set.Out),
	}}
}

func (s swishGrad) cuda(set Setting) Kernel {
	n := s.elements
	args := []cuda.Arg{cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.Out()), cuda.Int(n)}
	return Kernel{InPlace: []int{1, 0}, Launches: []cuda.Launch{
		byLanes(typed("swish_grad", set.Out), s.batch, n, append(args, dropArgs(s.d, 2, len(set.In) == 3)...), set.In[0], set.In[1], set.Out),
	}}
}

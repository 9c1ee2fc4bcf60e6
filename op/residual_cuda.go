package op

import "konkanitrain/device/cuda"

func (residual) precision() Precision     { return Precision{In: []bool{true, true}, Out: Halved} }
func (residualGrad) precision() Precision { return Precision{In: []bool{true}, Out: Halved} }

func (s residual) cuda(set Setting) Kernel {
	return Kernel{InPlace: []int{1, 0}, Launches: []cuda.Launch{
		byLanes(typed("residual", set.Out), s.batch, s.elements, s.args(2, set), set.In[0], set.In[1], set.Out),
	}}
}

func (s residualGrad) cuda(set Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{
		byLanes(typed("residual_dy", set.Out), s.batch, s.elements, s.args(1, set), set.In[0], set.Out),
	}}
}

// args are those of a kernel with n operands beside the seeds, which are there with dropout only.
func (s residualShape) args(n int, set Setting) []cuda.Arg {
	args := append(pointers(n), cuda.Float(s.kept()), cuda.Int(s.elements))
	return append(append(args, dropArgs(s.d, n, len(set.In) > n)...), cuda.Uint(threshold(s.d.Branch)))
}

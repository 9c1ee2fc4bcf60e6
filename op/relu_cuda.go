package op

import "konkanitrain/device/cuda"

func (relu) precision() Precision     { return Precision{In: []bool{true}, Out: Halved} }
func (reluGrad) precision() Precision { return Precision{In: []bool{true, true}, Out: Halved} }

func (s relu) cuda(set Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{byFours(typed("relu", set.Out), s.n, pointers(1), set.In[0], set.Out)}}
}

func (s reluGrad) cuda(set Setting) Kernel {
	return Kernel{InPlace: []int{1, 0}, Launches: []cuda.Launch{
		byFours(typed("relu_grad", set.Out), s.n, pointers(2), set.In[0], set.In[1], set.Out),
	}}
}

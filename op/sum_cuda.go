package op

import "konkanitrain/device/cuda"

func (sum) precision() Precision { return Precision{In: []bool{true, true}, Out: Either} }

func (s sum) cuda(set Setting) Kernel {
	k, name := Kernel{InPlace: []int{0, 1}}, typed("sum", set.In[0])
	if set.In[0] != set.Out {
		k.InPlace, name = nil, typed(name, set.Out)
	}
	k.Launches = []cuda.Launch{byFours(name, s.n, pointers(2), set.In[0], set.In[1], set.Out)}
	return k
}

package op

import "konkanitrain/device/cuda"

// Features and their gradient stay float32.

func (s subsampleConv) precision() Precision           { return Precision{Out: Halved} }
func (s subsampleConvGradInput) precision() Precision  { return Precision{In: []bool{true}, Out: Full} }
func (s subsampleConvGradWeight) precision() Precision { return Precision{In: []bool{true}, Out: Full} }

func (s subsampleConv) cuda(set Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{
		s.byFrames(typed("subsample_conv", set.Out), s.tOut(), s.args(cuda.In(0), cuda.In(1), cuda.In(2), cuda.In(3), cuda.Out()),
			s.bytes(1, set.In[0], set.Out)),
	}}
}

func (s subsampleConvGradInput) cuda(set Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{{
		Kernel: typed("subsample_conv_dx", set.In[0]), Grid: [3]int{blocks(s.f, sumLanes), s.t, s.b}, Block: threads,
		Args: s.args(cuda.In(0), cuda.In(1), cuda.In(2), cuda.Out()), Bytes: s.bytes(1, set.Out, set.In[0]), FLOPs: s.flops(),
	}}}
}

func (s subsampleConvGradWeight) cuda(set Setting) Kernel {
	return s.gradWeight(typed("subsample_conv_dw", set.In[0]), s.bytes(1, set.In[1], set.In[0]), set)
}

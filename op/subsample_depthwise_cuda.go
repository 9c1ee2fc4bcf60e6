package op

import "konkanitrain/device/cuda"

func (s subsampleDepthwise) precision() Precision {
	return Precision{In: []bool{true}, Out: Halved}
}

func (s subsampleDepthwiseGradInput) precision() Precision {
	return Precision{In: []bool{true}, Out: Halved}
}

func (s subsampleDepthwiseGradWeight) precision() Precision {
	return Precision{In: []bool{true, true}, Out: Full}
}

func (s subsampleDepthwise) cuda(set Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{
		s.byFrames(typed("subsample_depthwise", set.Out), s.tOut(), s.args(cuda.In(0), cuda.In(1), cuda.In(2), cuda.In(3), cuda.Out()),
			s.bytes(s.c, set.In[0], set.Out)),
	}}
}

func (s subsampleDepthwiseGradInput) cuda(set Setting) Kernel {
	return Kernel{Launches: []cuda.Launch{
		s.byFrames(typed("subsample_depthwise_dx", set.Out), s.t, s.args(cuda.In(0), cuda.In(1), cuda.In(2), cuda.Out()),
			s.bytes(s.c, set.Out, set.In[0])),
	}}
}

func (s subsampleDepthwiseGradWeight) cuda(set Setting) Kernel {
	return s.gradWeight(typed("subsample_depthwise_dw", set.In[0]), s.bytes(s.c, set.In[1], set.In[0]), set)
}

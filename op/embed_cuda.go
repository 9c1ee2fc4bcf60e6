package op

import "konkanitrain/device/cuda"

func (embed) precision() Precision     { return Precision{Out: Halved} }
func (embedGrad) precision() Precision { return Precision{In: []bool{true, false}, Out: Full} }

func (s embed) cuda(set Setting) Kernel {
	places := s.batch * (s.u + 1)
	n := int64(places * s.d)
	return Kernel{Launches: []cuda.Launch{{
		Kernel: typed("embed", set.Out), Grid: [3]int{places}, Block: 128,
		Args:  append(pointers(3), cuda.Float(float32(s.scale())), cuda.Int(s.u), cuda.Int(s.d)),
		Bytes: n*(8+set.Out.Bytes()) + 4*int64(places), FLOPs: 2 * float64(n),
	}}}
}

func (s embedGrad) cuda(set Setting) Kernel {
	const columns = 128 // of a block: 32*COLUMNS of embed.cu
	places := s.batch * (s.u + 1)
	moved := floatBytes(s.v * s.d)
	if set.Add {
		moved *= 2
	}
	return Kernel{Accumulates: true, Launches: []cuda.Launch{{
		Kernel: typed("embed_grad", set.In[0]), Grid: [3]int{s.v, blocks(s.d, columns)}, Block: threads,
		Args:  append(pointers(2), cuda.Float(float32(s.scale())), cuda.Int(places), cuda.Int(s.u), cuda.Int(s.d), addFlag(set)),
		Bytes: int64(places*s.d)*set.In[0].Bytes() + moved + 4*int64(places), FLOPs: float64(places*s.d + 2*s.v*s.d),
	}}}
}

package op

import "konkanitrain/device/cuda"

// Rows that a block takes: in layernorm one a warp, in layernorm_grad a chunk, LAYERNORM_CHUNK.
const (
	layerNormRows  = 8
	layerNormChunk = 16
)

func (s layerNorm) precision() Precision {
	return Precision{In: []bool{true, false, false}, Out: Halved}
}

func (s layerNormGrad) precision() Precision {
	return Precision{In: []bool{true, false, true}, Parts: s.parts()}
}

// parts are dx, dgamma and dbeta.
func (s layerNormShape) parts() []Part { return []Part{{s.n * s.d, true}, {s.d, false}, {s.d, false}} }

func (s layerNorm) cuda(set Setting) Kernel {
	return Kernel{InPlace: []int{0}, Launches: []cuda.Launch{{
		Kernel: typed("layernorm", set.Out), Grid: [3]int{blocks(s.n, layerNormRows)}, Block: threads,
		Args: []cuda.Arg{
			cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.Out()), cuda.Int(s.n), cuda.Int(s.d),
			cuda.Float(layerNormEps),
		},
		Bytes: 2*int64(s.n*s.d)*set.Out.Bytes() + floatBytes(2*s.d), FLOPs: 8 * float64(s.n*s.d),
	}}}
}

func (s layerNormGrad) cuda(set Setting) Kernel {
	at, _ := Packed(s.parts(), set.Half)
	p := partials{s.b, blocks(s.n/s.b, layerNormChunk), 2, s.d}
	return Kernel{Scratch: p.bytes(), Launches: []cuda.Launch{
		{
			Kernel: typed("layernorm_grad", set.In[0]), Grid: [3]int{p.chunks, s.b}, Block: threads,
			Args: []cuda.Arg{
				cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(2)), cuda.Ptr(cuda.Out()), cuda.Ptr(cuda.Temp()),
				cuda.Int(s.n / s.b), cuda.Int(s.d), cuda.Float(layerNormEps),
			},
			Bytes: 3*int64(s.n*s.d)*set.In[0].Bytes() + floatBytes(s.d) + p.bytes(), FLOPs: 20 * float64(s.n*s.d),
		},
		p.sum(cuda.Out().At(at[1]), int(at[2]-at[1])/4, 1, cuda.Int(0)),
	}}
}

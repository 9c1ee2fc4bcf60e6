package op

import "konkanitrain/device/cuda"

// Sizes in depthwise.cu: frames and taps of a block, and frames whose products with x a block sums, DEPTHWISE_CHUNK.
const (
	depthwiseTime  = 64
	depthwiseTaps  = 32
	depthwiseChunk = 128
)

func (s depthwise) precision() Precision          { return Precision{In: []bool{true}, Out: Halved} }
func (s depthwiseGradInput) precision() Precision { return Precision{In: []bool{true}, Out: Halved} }
func (s depthwiseGradWeight) precision() Precision {
	return Precision{In: []bool{true, true}, Out: Full}
}

func (s depthwise) cuda(set Setting) Kernel {
	return s.byTiles(typed("depthwise", set.Out), set.Out, cuda.In(0), cuda.In(1), cuda.In(2), cuda.Out())
}

func (s depthwiseGradInput) cuda(set Setting) Kernel {
	return s.byTiles(typed("depthwise_dx", set.Out), set.Out, cuda.In(0), cuda.In(1), cuda.Out())
}

// byTiles is a kernel from [B, T, D] to [B, T, D] of one type, with the taps.
func (s depthwiseShape) byTiles(kernel string, of DType, pointers ...cuda.Ref) Kernel {
	return Kernel{Launches: []cuda.Launch{{
		Kernel: kernel, Grid: [3]int{blocks(s.d, sumColumns), blocks(s.t, depthwiseTime), s.b}, Block: threads,
		Args: s.args(pointers...), Bytes: s.bytes(of), FLOPs: s.flops(),
	}}}
}

func (s depthwiseGradWeight) cuda(set Setting) Kernel {
	p := partials{s.b, blocks(s.t, depthwiseChunk), s.k, s.d}
	return Kernel{Accumulates: true, Scratch: p.bytes(), Launches: []cuda.Launch{
		{
			Kernel: typed("depthwise_dw", set.In[0]),
			Grid:   [3]int{blocks(s.d, sumColumns) * blocks(s.k, depthwiseTaps), p.chunks, s.b}, Block: threads,
			Args:  s.args(cuda.In(0), cuda.In(1), cuda.Temp()),
			Bytes: s.bytes(set.In[0]) + p.bytes(), FLOPs: s.flops(),
		},
		p.sum(cuda.Out(), 1, s.k, addFlag(set)),
	}}
}

// args are pointers, and the sizes behind them.
func (s depthwiseShape) args(pointers ...cuda.Ref) (args []cuda.Arg) {
	for _, p := range pointers {
		args = append(args, cuda.Ptr(p))
	}
	return append(args, cuda.Int(s.t), cuda.Int(s.d), cuda.Int(s.k))
}

// bytes is what two arrays [B, T, D] and the taps take together.
func (s depthwiseShape) bytes(of DType) int64 {
	return 2*int64(s.b*s.t*s.d)*of.Bytes() + floatBytes(s.d*(s.k+1))
}

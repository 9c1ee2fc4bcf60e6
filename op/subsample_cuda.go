package op

import "konkanitrain/device/cuda"

// What the two convolutions of the subsampling share on a card.

// subsampleChunk is the number of output frames whose products with x a block sums: SUBSAMPLE_CHUNK.
const subsampleChunk = 32

// args are pointers, and the geometry behind them.
func (s subsampling) args(pointers ...cuda.Ref) (args []cuda.Arg) {
	for _, p := range pointers {
		args = append(args, cuda.Ptr(p))
	}
	return append(args, cuda.Int(s.t), cuda.Int(s.f), cuda.Int(s.c), cuda.Int(s.factor))
}

// bytes is what x, of so many channels, y and the small operands take together.
func (s subsampling) bytes(channels int, x, y DType) int64 {
	return int64(s.b*s.t*s.f*channels)*x.Bytes() + int64(Size(s.out()))*y.Bytes() + floatBytes(10*s.c+s.b)
}

// byFrames launches a kernel whose warps have 32 channels of one of t frames.
func (s subsampling) byFrames(kernel string, t int, args []cuda.Arg, bytes int64) cuda.Launch {
	return cuda.Launch{
		Kernel: kernel, Grid: [3]int{blocks(s.c, sumColumns), blocks(t, sumLanes), s.b}, Block: threads, Args: args,
		Bytes: bytes, FLOPs: s.flops(),
	}
}

// gradWeight is dw in two steps: dy, x, lengths -> [C, 9].
func (s subsampling) gradWeight(kernel string, bytes int64, set Setting) Kernel {
	p := partials{s.b, blocks(s.tOut(), subsampleChunk), 9, s.c}
	return Kernel{Accumulates: true, Scratch: p.bytes(), Launches: []cuda.Launch{
		{
			Kernel: kernel, Grid: [3]int{blocks(s.c, sumColumns), p.chunks, s.b}, Block: threads,
			Args: s.args(cuda.In(0), cuda.In(1), cuda.In(2), cuda.Temp()), Bytes: bytes + p.bytes(), FLOPs: s.flops(),
		},
		p.sum(cuda.Out(), 1, 9, addFlag(set)),
	}}
}

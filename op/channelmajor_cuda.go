package op

import "konkanitrain/device/cuda"

func (channelMajor) precision() Precision { return Precision{In: []bool{true}, Out: Halved} }

func (s channelMajor) cuda(set Setting) Kernel {
	const tile = 32 // TILE of channelmajor.cu
	return Kernel{Launches: []cuda.Launch{{
		Kernel: typed("channelmajor", set.Out), Grid: [3]int{s.n, blocks(s.r, tile), blocks(s.c, tile)}, Block: threads,
		Args:  append(pointers(1), cuda.Int(s.r), cuda.Int(s.c)),
		Bytes: 2 * int64(s.n*s.r*s.c) * set.Out.Bytes(),
	}}}
}

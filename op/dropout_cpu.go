package op

import "konkanitrain/internal/simd"

func (s dropout) cpu() Kernel { return Kernel{Run: s.runCPU, InPlace: []int{0}} }

func (s dropout) runCPU(_ *Env, y Tensor, in []Tensor) {
	for b := range s.batch {
		simd.Dropout(block(y, b, s.batch), block(in[0], b, s.batch), 0, s.d.of(in[1].Ints, b))
	}
}

// of is d for utterance b of the seeds [B, 2].
func (d Drop) of(seeds []int32, b int) simd.Drop {
	return simd.Drop{Key: seedOf(seeds, b), Site: d.Site, Threshold: d.threshold()}
}

// seedOf is the 64-bit seed of utterance b from its two halves: seeds [B, 2].
func seedOf(seeds []int32, b int) uint64 {
	return uint64(uint32(seeds[2*b])) | uint64(uint32(seeds[2*b+1]))<<32
}

package op

import "konkanitrain/internal/simd"

func dropoutCPU(batch int, d Drop) func(*Env, Tensor, []Tensor) {
	return func(_ *Env, y Tensor, in []Tensor) {
		for b := range batch {
			simd.Dropout(block(y, b, batch), block(in[0], b, batch), 0, d.of(in[1].Ints, b))
		}
	}
}

// of is d for utterance b of the keys [B, 2].
func (d Drop) of(keys []int32, b int) simd.Drop {
	return simd.Drop{Key: key(keys, b), Site: d.Site, Threshold: d.threshold()}
}

// key is the 64-bit key of utterance b from its two halves: keys [B, 2].
func key(keys []int32, b int) uint64 {
	return uint64(uint32(keys[2*b])) | uint64(uint32(keys[2*b+1]))<<32
}

// block is utterance b's part of t [batch, ...].
func block(t Tensor, b, batch int) []float32 {
	n := len(t.Data) / batch
	return t.Data[b*n:][:n]
}

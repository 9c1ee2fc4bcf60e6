package op

import (
	"unsafe"

	"konkanitrain/internal/simd"
)

// What CPU kernels share.

// block is utterance b's part of t [batch, ...].
func block(t Tensor, b, batch int) []float32 {
	n := len(t.Data) / batch
	return t.Data[b*n:][:n]
}

// beta is the factor of what out holds already: 1 when adding to it.
func (e *Env) beta() float32 {
	if e.Add {
		return 1
	}
	return 0
}

// start prepares out for a kernel that adds to it.
func (e *Env) start(out []float32) {
	if !e.Add {
		clear(out)
	}
}

// floatBytes is the size of n float32s, for Kernel.Scratch.
func floatBytes(n int) int64 { return 4 * int64(n) }

// roundUp is n up to a whole cache line of 16 floats.
func roundUp(n int) int { return (n + 15) &^ 15 }

// take cuts n floats from the front of s, a whole number of cache lines.
func take(s *[]float32, n int) []float32 {
	part := (*s)[:n]
	*s = (*s)[min(roundUp(n), len(*s)):]
	return part
}

// takeFloat64s cuts n float64s from the front of scratch, which may start at an odd float32; float64Space(n) floats are
// enough.
func takeFloat64s(scratch *[]float32, n int) []float64 {
	if n == 0 {
		return nil
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(*scratch)))%8 != 0 {
		*scratch = (*scratch)[1:]
	}
	f := take(scratch, 2*n)
	return unsafe.Slice((*float64)(unsafe.Pointer(&f[0])), n)
}

func float64Space(n int) int { return 1 + roundUp(2*n) }

// transpose sets dst [c, r] to the transpose of src [r, c]. Four rows go at once: their elements are
// neighbors in dst.
func transpose(dst, src []float32, r, c int) {
	i := 0
	for ; i+4 <= r; i += 4 {
		r0, r1, r2, r3 := src[i*c:][:c], src[(i+1)*c:][:c], src[(i+2)*c:][:c], src[(i+3)*c:][:c]
		for j := range c {
			to := dst[j*r+i:][:4]
			to[0], to[1], to[2], to[3] = r0[j], r1[j], r2[j], r3[j]
		}
	}
	for ; i < r; i++ {
		for j, v := range src[i*c:][:c] {
			dst[j*r+i] = v
		}
	}
}

// addTransposed adds the transpose of src [r, c] to dst [c, r].
func addTransposed(dst, src []float32, r, c int) {
	for i := range r {
		for j, v := range src[i*c:][:c] {
			dst[j*r+i] += v
		}
	}
}

// logProbabilities is log softmax of one row; dst may be x. The largest logit is taken off first, exactly: added to
// the logarithm of the sum and rounded, a logit of 60000 would cost 0.004 nats.
func logProbabilities(dst, x []float32) {
	top := simd.Max(x)
	for c, v := range x {
		dst[c] = v - top
	}
	simd.LogSoftmax(dst, dst)
}

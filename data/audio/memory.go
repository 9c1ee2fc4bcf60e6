package audio

import "konkanitrain/internal/simd"

// Sized returns n elements of any content: in buf's memory where that suffices, else in memory of just that size.
func Sized[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// ReadBytes is what a Reader keeps after a part of n samples, in bytes: the samples, and a piece of the file as bytes
// and as integers. Samples of one byte, which are rare, make twice as many integers.
func ReadBytes(n int) int64 { return 4*int64(n) + pieceBytes + 8*pieceBytes/2 }

// decoderBytes is more than a decoder's state and buffers take: most of it are codebooks of Vorbis in many channels.
const decoderBytes = 1 << 20

// DecoderBytes is what decoding the recording takes beside what the Reader keeps, in bytes; of a WAV file nothing.
func (i *Info) DecoderBytes() int64 {
	if i.stream == nil {
		return 0
	}
	return decoderBytes
}

// ScratchBytes is what one goroutine takes while it resamples n samples, in bytes, without the result.
func (r *Resampler) ScratchBytes(n int, ratio Ratio) int64 {
	if ratio.One() {
		return 0
	}
	k := r.outline(ratio.norm())
	if len(k.blocks) == 0 {
		return 0
	}
	return 4*int64(k.paddedLen(n, ratio.Len(n))) + simd.WorkspaceBytes
}

// KernelBytes is what the kernels of all of these ratios take together, each counted once, in bytes.
func (r *Resampler) KernelBytes(ratios []Ratio) int64 {
	bytes := int64(0)
	counted := map[Ratio]bool{}
	for _, ratio := range ratios {
		if ratio = ratio.norm(); !ratio.One() && !counted[ratio] {
			counted[ratio] = true
			bytes += r.outline(ratio).bytes()
		}
	}
	return min(bytes, maxKernelBytes)
}

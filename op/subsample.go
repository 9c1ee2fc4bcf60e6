package op

import "gorgonia.org/tensor"

// subsampling is the geometry of a convolution 3×3 with stride 2 and padding 1 over (time, frequency):
// b utterances of t frames of f bins become tOut frames of fOut bins, each halved and rounded up. Input
// (2*i+j-1) meets output i at tap j.
//
// Frames of the input past the utterance's own count as zeros, and so do those around it: the ops select,
// so padding may hold anything, even NaN. An output frame past the utterance's own is the bias alone.
type subsampling struct{ b, t, f, c, factor int } // c channels; lengths are in feature frames, x is subsampled by factor

func (s subsampling) tOut() int { return (s.t + 1) / 2 }
func (s subsampling) fOut() int { return (s.f + 1) / 2 }

// out is the shape of the result, channels last: [B, T', F', C].
func (s subsampling) out() tensor.Shape { return tensor.Shape{s.b, s.tOut(), s.fOut(), s.c} }

// flops is that of one pass over all products of output and tap in each channel.
func (s subsampling) flops() float64 { return 2 * 9 * float64(Size(s.out())) }

// frames is the number of utterance b's own frames in the input and in the output.
func (s subsampling) frames(lengths []int32, b int) (in, out int) {
	n := valid(lengths, b, s.factor, s.t)
	return n, (n + 1) / 2
}

// isKernels says whether t holds C kernels of 3×3: [C, 1, 3, 3].
func isKernels(t Type) bool {
	s := t.Shape
	return isFloats(t, 4) && s[1] == 1 && s[2] == 3 && s[3] == 3
}

// window is the range of taps at which output i meets the n inputs: from <= tap < to. Of n inputs there are (n+1)/2
// outputs, so that there is always a tap.
func window(i, n int) (from, to int) { return max(0, 1-2*i), min(3, n+1-2*i) }

// each calls term for each product of utterance b over all channels: output frame and bin, input frame and
// bin, and the tap (3*time + frequency) at which they meet. The specifications use it.
func (s subsampling) each(lengths []int32, b int, term func(t, f, u, g, tap int)) {
	n, nOut := s.frames(lengths, b)
	for t := range nOut {
		for f := range s.fOut() {
			for i := range 3 {
				for j := range 3 {
					if u, g := 2*t+i-1, 2*f+j-1; u >= 0 && u < n && g >= 0 && g < s.f {
						term(t, f, u, g, 3*i+j)
					}
				}
			}
		}
	}
}

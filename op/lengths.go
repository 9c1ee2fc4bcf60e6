package op

import "konkanitrain/internal/frames"

// valid is the number of frames of utterance b that are its own: lengths are in feature frames, the tensor
// at hand is subsampled by factor and has t frames.
func valid(lengths []int32, b, factor, t int) int {
	return max(0, min(frames.Subsampled(int(lengths[b]), factor), t))
}

// isLengths says whether t holds one integer for each of the utterances of x.
func isLengths(t, x Type) bool {
	return t.Int && t.Shape.Dims() == 1 && x.Shape.Dims() > 1 && t.Shape[0] == x.Shape[0]
}

// isFactor says whether the network can subsample by factor: 1 (not at all), 2, 4 or 8.
func isFactor(factor int) bool { return factor == 1 || factor == 2 || factor == 4 || factor == 8 }

// same says whether a and b are of one shape, both float32.
func same(a, b Type) bool { return !a.Int && !b.Int && a.Shape.Eq(b.Shape) }

// isVector says whether t is a float32 vector of n elements.
func isVector(t Type, n int) bool { return !t.Int && t.Shape.Dims() == 1 && t.Shape[0] == n }

// Package frames is the one place where lengths are computed: samples to feature frames, feature frames to
// encoder frames, and the encoder frames that CTC needs. The data filter, the memory plan, the model and the
// loss all ask here, so they can't disagree.
package frames

// Count is the number of feature frames of a wave of samples at rate Hz, with a shift of 10 ms and Kaldi's
// snip_edges=false: (samples + shift/2) / shift, rounded down. It is 0 for waves shorter than half a shift.
func Count(samples, rate int) int {
	shift := rate / 100
	if shift <= 0 || samples <= 0 {
		return 0
	}
	return (samples + shift/2) / shift
}

// Subsampled is the number of encoder frames left of n feature frames: n is halved, rounded up, once per
// stage. factor is 2, 4 or 8 (one, two or three stages); factor 1 leaves n as it is.
// Nothing is left of nothing: of 0 it leaves 0, and of -1, the length of an absent row, no more than 0.
func Subsampled(n, factor int) int {
	for ; factor > 1; factor /= 2 {
		n = (n + 1) / 2
	}
	return n
}

// CTCNeed is the least number of encoder frames that an alignment of tokens takes: one for each token, and
// one blank between two equal neighbors (Graves et al. 2006, section 3).
func CTCNeed(tokens []int32) int {
	need := len(tokens)
	for i := 1; i < len(tokens); i++ {
		if tokens[i] == tokens[i-1] {
			need++
		}
	}
	return need
}

// Feasible says whether CTC has an alignment for tokens on n feature frames.
func Feasible(n, factor int, tokens []int32) bool {
	return Subsampled(n, factor) >= CTCNeed(tokens)
}

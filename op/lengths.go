package op

import "konkanitrain/internal/frames"

// A row of a batch may be absent: feature length 0 and target length -1. Nothing of it is read, its losses are 0 and so
// is every gradient that it takes part in: a batch trains as it would without that row. (Its results are finite.)

// valid is the number of frames of utterance b that are its own: lengths are in feature frames (or in the frames at
// hand, with factor 1), the tensor at hand is subsampled by factor and has t frames. An absent row has none.
func valid(lengths []int32, b, factor, t int) int {
	return max(0, min(frames.Subsampled(int(lengths[b]), factor), t))
}

// rowCount turns a length in an input into a number of rows: subsampled by factor, and extra more.
type rowCount struct{ factor, extra int }

// of is the number of true rows of utterance b, at most n; an absent one (length -1) has none.
func (c rowCount) of(lengths []int32, b, n int) int {
	if lengths[b] < 0 {
		return 0
	}
	return min(valid(lengths, b, c.factor, n)+c.extra, n)
}

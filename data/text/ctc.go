package text

// Collapse turns the best id of each frame into the token ids of the CTC best path (Graves et al. 2006,
// section 3.2): repeats are merged, then blanks removed. The ids are appended to dst, which may be nil.
func Collapse(dst, frames []int32) []int32 {
	last := Blank
	for _, id := range frames {
		if id != last && id != Blank {
			dst = append(dst, id)
		}
		last = id
	}
	return dst
}

// BlankShare is the part of frames that is blank, 0 to 1; 0 where there are no frames. A share of 1 over a
// whole validation set means that the model has learned to say nothing.
func BlankShare(frames []int32) float64 {
	if len(frames) == 0 {
		return 0
	}
	n := 0
	for _, id := range frames {
		if id == Blank {
			n++
		}
	}
	return float64(n) / float64(len(frames))
}

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

// Blanks counts the frames whose id is blank. Where that is all of a whole validation set the model has learned to
// say nothing.
func Blanks(frames []int32) int {
	n := 0
	for _, id := range frames {
		if id == Blank {
			n++
		}
	}
	return n
}

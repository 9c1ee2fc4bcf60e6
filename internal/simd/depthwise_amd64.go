package simd

import "unsafe"

// Limits of a convolution's parts.
const (
	partLength = 96  // outputs, or for the gradient of the taps frames, of a part: a multiple of both block lengths
	windowRows = 160 // of x that are brought together
	fewTaps    = 8   // up to so many, bringing them together costs more than it saves
	crowded    = 128 // channels of which a multiple puts the rows of a column into an eighth of the cache's places
)

// convolveSet is the convolution of one tier.
type convolveSet struct {
	lanes  int
	narrow func(c convolution) // for fewer channels than a vector has
}

// convolve cuts the frames into parts, so that a part's cache lines are still there when their other channels' turn
// comes. The gradient of the taps adds part by part, which costs more than it saves unless the channels crowd.
func (s *convolveSet) convolve(c convolution) {
	if c.d < s.lanes || c.taps == 0 || len(c.x) == 0 {
		s.narrow(c)
		return
	}
	rows, long, length := len(c.x)/c.d, c.outs, partLength
	if c.add {
		long = c.taps
		if c.d%crowded != 0 {
			length = long
		}
	}
	for from := 0; from < long; from += length {
		part, length := c, min(length, long-from)
		part.pad -= from
		if c.add {
			part.tap, part.taps = c.tap[from*c.d:], length
		} else {
			part.out, part.outs = c.out[from*c.d:], length
		}
		first, end := max(0, -part.pad), min(rows, part.outs+part.taps-1-part.pad)
		if first < end {
			part.x = c.x[first*c.d : end*c.d]
			part.pad += first
		}
		s.part(&part)
	}
}

// part convolves one vector of channels after the other. Where the columns of taps and x would compete for few places
// in the first-level cache, they are brought together first.
func (s *convolveSet) part(c *convolution) {
	var space [(windowRows+partLength)*16 + 16]float32
	window := space[-uintptr(unsafe.Pointer(&space))%64/4:] // on a cache line
	taps := window[windowRows*s.lanes:]
	rows, stride := len(c.x)/c.d, floats(c.d)
	first, stepTap := 0, stride
	if c.reverse {
		first, stepTap = (c.taps-1)*c.d, -stride
	}
	together := c.d%crowded == 0 && min(c.taps, c.outs) > fewTaps && c.taps <= partLength && rows <= windowRows
	for l := 0; l < c.d; l += s.lanes {
		// The last vector ends with the last channel; the lanes that were there before are not written again.
		skip := max(0, l+s.lanes-c.d)
		at := l - skip
		tap, stepTap, x, stepX := &c.tap[first+at], stepTap, &c.x[at], stride
		if together {
			s.copy(&taps[0], tap, stepTap, c.taps)
			s.copy(&window[0], x, stepX, rows)
			tap, stepTap, x, stepX = &taps[0], floats(s.lanes), &window[0], floats(s.lanes)
		}
		var start *float32
		if c.start != nil {
			start = &c.start[at]
		}
		s.run(&c.out[at], stride, tap, stepTap, x, stepX, start, c.outs, c.taps, rows, c.pad, skip, c.add)
	}
}

// run and copy call the assembly by name: through function values, the arrays of part would move to the heap.
func (s *convolveSet) run(out *float32, stepOut uintptr, tap *float32, stepTap uintptr, x *float32, stepX uintptr, start *float32, outs, taps, rows, pad, skip int, add bool) {
	by12 := (outs+11)/12*12 <= (outs+7)/8*8 // no more outputs beyond the end
	switch {
	case s.lanes == 16 && by12:
		convolve12AVX512(out, stepOut, tap, stepTap, x, stepX, start, outs, taps, rows, pad, skip, add)
	case s.lanes == 16:
		convolve8AVX512(out, stepOut, tap, stepTap, x, stepX, start, outs, taps, rows, pad, skip, add)
	case by12:
		convolve12AVX2(out, stepOut, tap, stepTap, x, stepX, start, outs, taps, rows, pad, skip, add)
	default:
		convolve8AVX2(out, stepOut, tap, stepTap, x, stepX, start, outs, taps, rows, pad, skip, add)
	}
}

// copy copies depth vectors that are step bytes apart.
func (s *convolveSet) copy(dst, src *float32, step uintptr, depth int) {
	if s.lanes == 16 {
		copyPanelAVX512(dst, floats(16), src, step, depth, 16)
	} else {
		copyPanelAVX2(dst, floats(8), src, step, depth, 8)
	}
}

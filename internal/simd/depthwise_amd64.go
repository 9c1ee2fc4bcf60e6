package simd

// convolveKernel convolves one vector of channels, a block of outputs at a time. Strides are in bytes; start may be
// nil; the first skip lanes are computed and not written.
type convolveKernel func(out, tap, x, start *float32, stride, step uintptr, outs, taps, rows, pad, skip int, add bool)

// convolveSet is the convolution of one tier.
type convolveSet struct {
	lanes     int
	by8, by12 convolveKernel
	narrow    func(c convolution) // for fewer channels than a vector has
}

func (s *convolveSet) convolve(c convolution) {
	if c.d < s.lanes || c.taps == 0 || len(c.x) == 0 {
		s.narrow(c)
		return
	}
	if c.outs == 0 {
		return
	}
	kernel := s.by8
	if (c.outs+11)/12*12 <= (c.outs+7)/8*8 { // no more outputs beyond the end
		kernel = s.by12
	}
	first, step := 0, floats(c.d)
	if c.reverse {
		first, step = (c.taps-1)*c.d, -step
	}
	for l := 0; l < c.d; l += s.lanes {
		// The last vector ends with the last channel; the lanes that were there before are not written again.
		skip := max(0, l+s.lanes-c.d)
		at := l - skip
		var start *float32
		if c.start != nil {
			start = &c.start[at]
		}
		kernel(&c.out[at], &c.tap[first+at], &c.x[at], start, floats(c.d), step, c.outs, c.taps, len(c.x)/c.d, c.pad, skip, c.add)
	}
}

package simd

func convolvePlain(c convolution) { c.columns(0, c.d) }

// columns computes channels [from, to) with one pass over a row of channels per output and tap.
func (c convolution) columns(from, to int) {
	rows := len(c.x) / max(c.d, 1)
	var sums [64]float32
	for ; from < to; from += len(sums) {
		n := min(len(sums), to-from)
		s := sums[:n]
		for i := range c.outs {
			clear(s)
			if c.start != nil {
				copy(s, c.start[from:])
			}
			for j := max(0, c.pad-i); j < min(c.taps, rows+c.pad-i); j++ {
				tap := j
				if c.reverse {
					tap = c.taps - 1 - j
				}
				x, w := c.x[(i+j-c.pad)*c.d+from:][:n], c.tap[tap*c.d+from:][:n]
				for l, v := range x {
					s[l] += w[l] * v
				}
			}
			out := c.out[i*c.d+from:][:n]
			if c.add {
				for l, v := range s {
					out[l] += v
				}
			} else {
				copy(out, s)
			}
		}
	}
}

package op

import "konkanitrain/device/cuda"

func (ctc) precision() Precision     { return Precision{} }
func (ctcGrad) precision() Precision { return Precision{Out: Halved} }

// warpRows is the block size of kernels in which a warp has a row.
const warpRows = 128

// byRows is the grid of such a kernel: batch utterances with n rows each.
func byRows(batch, n int) [3]int { return [3]int{blocks(n, warpRows/32), batch} }

// cardSpace cuts a card's scratch memory into parts.
type cardSpace struct{ bytes int64 }

// take is the next n elements of so many bytes each.
func (s *cardSpace) take(bytes, n int64) cuda.Arg {
	at := s.bytes
	s.bytes += (bytes*n + 15) / 16 * 16
	return cuda.Ptr(cuda.Temp().At(at))
}

// rowsLaunch makes the log-softmax of each frame: rows is its result, x the place of the operands logits and lengths.
func (c *ctcShape) rowsLaunch(x int, rows cuda.Arg) cuda.Launch {
	n := c.batch * c.s * c.v
	return cuda.Launch{
		Kernel: "ctc_rows", Grid: byRows(c.batch, c.s), Block: warpRows, Bytes: 4 * int64(n), FLOPs: 6 * float64(n),
		Args: []cuda.Arg{cuda.Ptr(cuda.In(x)), cuda.Ptr(cuda.In(x + 1)), rows, cuda.Int(c.s), cuda.Int(c.v), cuda.Int(c.factor)},
	}
}

// lattice launches a kernel that goes over an utterance's frames so many times, a block for each utterance. x is the
// place of the operands logits, lengths, targets and their lengths. A state of a frame costs so many bytes, and
// operations in float64 beside an exponential in float32 each time.
func (c *ctcShape) lattice(kernel string, x, times, bytes, doubles int, args ...cuda.Arg) cuda.Launch {
	n := c.batch * c.s * c.states()
	all := []cuda.Arg{cuda.Ptr(cuda.In(x)), cuda.Ptr(cuda.In(x + 1)), cuda.Ptr(cuda.In(x + 2)), cuda.Ptr(cuda.In(x + 3))}
	return cuda.Launch{
		Kernel: kernel, Grid: [3]int{c.batch}, Block: threads, Bytes: int64(bytes) * int64(n),
		FLOPs: float64(doubles+4*times) * float64(n), Doubles: float64(doubles) * float64(n), Chain: times * c.s,
		Args: append(append(all, args...), cuda.Int(c.s), cuda.Int(c.v), cuda.Int(c.u), cuda.Int(c.factor)),
	}
}

func (c ctc) cuda(Setting) Kernel {
	var space cardSpace
	batch, width := int64(c.batch), int64(c.states())
	rows, m, e := space.take(8, batch*int64(c.s)), space.take(8, batch*2*width), space.take(4, batch*2*width)
	return Kernel{Scratch: space.bytes, Launches: []cuda.Launch{
		c.rowsLaunch(0, rows),
		c.lattice("ctc_loss", 0, 1, 4, 3, rows, m, e, cuda.Ptr(cuda.Out()), cuda.Double(1-c.smoothing), cuda.Double(c.uniform())),
	}}
}

func (c ctcGrad) cuda(set Setting) Kernel {
	var space cardSpace
	batch, width, s := int64(c.batch), int64(c.states()), int64(c.s)
	rows, m, e := space.take(8, batch*s), space.take(8, batch*s*width), space.take(4, batch*s*width)
	laterM, laterE := space.take(8, batch*2*width), space.take(4, batch*2*width)
	frames, first, next := space.take(4, batch), space.take(4, batch*int64(c.v)), space.take(4, batch*int64(c.u))
	n := int64(c.batch * c.s * c.v)
	k := Kernel{Scratch: space.bytes, Launches: []cuda.Launch{
		c.rowsLaunch(1, rows),
		c.lattice("ctc_occupy", 1, 2, 40, 8, rows, m, e, laterM, laterE, frames, first, next),
		{
			Kernel: typed("ctc_grad", set.Out), Grid: byRows(c.batch, c.s), Block: warpRows,
			Bytes: n*(4+set.Out.Bytes()) + 8*batch*s*width, FLOPs: 6*float64(n) + float64(batch*s*width), Doubles: float64(batch * s * width),
			Args: []cuda.Arg{
				cuda.Ptr(cuda.In(0)), cuda.Ptr(cuda.In(1)), cuda.Ptr(cuda.In(4)), rows, m, frames, first, next, cuda.Ptr(cuda.Out()),
				cuda.Int(c.s), cuda.Int(c.v), cuda.Int(c.u), cuda.Double(1 - c.smoothing), cuda.Float(float32(c.uniform())),
			},
		},
	}}
	if set.Out == Float32 {
		k.InPlace = []int{1}
	}
	return k
}

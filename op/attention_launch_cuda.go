package op

import "konkanitrain/device/cuda"

// The launches of attention's own kernels.

// rowWarps is how many rows a block of the softmax kernels takes, a warp each, if their weights fit its shared memory.
const rowWarps = 4

// pack is the launch that packs q+u, q+w, k, v and dy.
func (c *attentionCard) pack() cuda.Launch {
	null, in := cuda.Null(), func(k int) cuda.Arg { return cuda.Ptr(cuda.In(k)) }
	from := []cuda.Arg{in(c.first), in(c.first + 1), in(c.first + 2), null, null, null} // q, k, v, dy, u, w
	to := []cuda.Arg{cuda.Ptr(c.qu), cuda.Ptr(c.k), cuda.Ptr(c.v), null, null}          // q+u, k, v, dy, q+w
	operands, moved := 3, c.batch*(c.l+2*c.s)*c.d
	if c.first > 0 {
		from[3], to[3] = in(0), cuda.Ptr(c.dy)
		operands, moved = 4, moved+c.batch*c.l*c.d
	}
	if c.relative {
		from[4], from[5], to[4] = in(c.first+4), in(c.first+5), cuda.Ptr(c.qw)
		operands, moved = 5, moved+c.batch*c.l*c.d
	}
	l := c.panels(typed("attention_pack", c.of()), c.batch, max(c.l, c.s), append(from, to...),
		cuda.Int(c.batch), cuda.Int(c.l), cuda.Int(c.s), cuda.Int(c.d), cuda.Int(c.heads), cuda.Int(c.tile))
	l.Grid[2] = operands
	l.Args = append(l.Args, c.lengthArgs()...)
	l.Bytes = 2 * c.bytes(moved)
	return l
}

// unpack is the launch that writes a packed float32 array [rows, d] of each utterance, by tiles, to where activations
// are wanted.
func (c *attentionCard) unpack(from, to cuda.Ref, batch, rows, tile int) cuda.Launch {
	l := c.panels(typed("attention_unpack", c.of()), batch, rows, []cuda.Arg{cuda.Ptr(from), cuda.Ptr(to)},
		cuda.Int(batch), cuda.Int(rows), cuda.Int(c.d), cuda.Int(c.heads), cuda.Int(tile))
	n := batch * rows * c.d
	l.Bytes = int64(n)*4 + c.bytes(n)
	return l
}

// panelRows is how many of an utterance's rows a block has in an array [batch, rows, d]: PANEL in attention.cuh.
const panelRows = 64

// panels launches a kernel that goes by panels of an array [batch, rows, d].
func (c *attentionCard) panels(kernel string, batch, rows int, args []cuda.Arg, more ...cuda.Arg) cuda.Launch {
	return cuda.Launch{
		Kernel: kernel, Block: threads, Args: append(args, more...),
		Grid: [3]int{blocks(rows, panelRows) * blocks(c.d, sumColumns), batch},
	}
}

// lengthArgs are the lengths of queries and keys, with what makes rows of them.
func (c *attentionCard) lengthArgs() []cuda.Arg {
	n := c.first + c.floatOperands()
	return []cuda.Arg{
		cuda.Ptr(cuda.In(n)), cuda.Int(c.query.factor), cuda.Int(c.query.extra),
		cuda.Ptr(cuda.In(n + 1)), cuda.Int(c.key.factor), cuda.Int(c.key.extra),
	}
}

// softmax is the launch that makes weights of a tile's scores. A score is added up, looked at for the largest, raised
// (4), summed, normalized and dropped.
func (c *attentionCard) softmax(t cardTile) cuda.Launch {
	l := c.rows("attention_softmax", t, cuda.Ptr(c.score), c.bandArg(), cuda.Ptr(c.score))
	scores := c.heads * c.batch * t.rows * t.keys
	l.Bytes = int64(scores)*4 + c.bytes(scores)
	l.FLOPs = 8 * float64(scores)
	if c.relative {
		l.Bytes += int64(scores) * 4
		l.FLOPs += float64(scores)
	}
	return l
}

// bandArg is the relative term, or null.
func (c *attentionCard) bandArg() cuda.Arg {
	if c.relative {
		return cuda.Ptr(c.band)
	}
	return cuda.Null()
}

// rows launches a kernel that goes row by row through a tile's scores. A warp keeps its row's weights in shared memory:
// with more than 3072 keys a block has fewer warps, and more than 12288 keys are refused.
func (c *attentionCard) rows(kernel string, t cardTile, arrays ...cuda.Arg) cuda.Launch {
	kept := blocks(t.keys, 256) * 256 * 4
	warps := max(1, min(rowWarps, cuda.MaxShared/kept))
	causal := 0
	if c.causal {
		causal = 1
	}
	args := append(arrays,
		cuda.Int(c.batch), cuda.Int(c.heads), cuda.Int(t.rows), cuda.Int(t.from), cuda.Int(c.l), cuda.Int(c.s), cuda.Int(t.keys),
		cuda.Int(t.row()), cuda.Int(t.band()))
	args = append(append(args, c.lengthArgs()...), cuda.Int(causal))
	return cuda.Launch{
		Kernel: typed(kernel, c.of()), Grid: [3]int{blocks(c.heads*c.batch*t.rows, warps)}, Block: 32 * warps, Shared: kept * warps,
		Args: append(args, dropArgs(c.drop, c.first+c.floatOperands()+2, c.dropping)...),
	}
}

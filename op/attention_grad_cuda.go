package op

import "konkanitrain/device/cuda"

// precision: dy is an activation too. What flows into the biases u and w stays float32.
func (a *attentionGrad) precision() Precision {
	p := Precision{In: append([]bool{true}, a.activations()...), Parts: []Part{
		{a.batch * a.l * a.d, true}, {a.batch * a.s * a.d, true}, {a.batch * a.s * a.d, true},
	}}
	if a.relative {
		p.Parts = append(p.Parts, Part{(2*a.s - 1) * a.d, true}, Part{a.d, false}, Part{a.d, false})
	}
	return p
}

// cuda goes through the tiles backward: the last one has all keys, writes dk and dv whole, and the others add. Sums
// over tiles are float32, under half precision in scratch memory; dp then has an array of its own there, and else is
// summed in the result.
func (a *attentionGrad) cuda(s Setting) Kernel {
	c := newAttentionCard(a.attentionShape, s, 1, gradTile)
	queries, keys, distances := a.batch*a.l*a.d, a.batch*a.s*a.d, (2*a.s-1)*a.d
	c.dy = c.take(queries, true)
	c.dweight = c.take(a.heads*a.batch*c.tile*scoreRow(a.s), false)
	c.dqu, c.dk, c.dv = c.take(queries, false), c.take(keys, false), c.take(keys, false)
	offsets, _ := Packed(a.precision().Parts, c.half)
	part := func(k int) cuda.Ref { return cuda.Out().At(offsets[k]) }

	launches := []cuda.Launch{c.pack()}
	dp := cuda.Matrix{Row: a.d, Stride: int64(a.dh())}
	if a.relative {
		c.dqw = c.take(queries, false)
		dp.Ref = part(3)
		if c.half {
			dp = cuda.Matrix{Ref: c.take(distances, false), Row: a.dh(), Stride: int64((2*a.s - 1) * a.dh())}
		}
		launches = append(launches, cuda.Zeros(dp.Ref, int64(distances)*4))
	}
	tiles := c.tiles()
	for i := len(tiles) - 1; i >= 0; i-- {
		launches = append(launches, c.gradients(tiles[i], dp, i < len(tiles)-1)...)
	}
	if a.relative {
		launches = append(launches, c.gradBias(part(0), part(4), int(offsets[5]-offsets[4])/4)...)
		if c.half {
			launches = append(launches, c.unpack(dp.Ref, part(3), 1, 2*a.s-1, 2*a.s-1))
		}
	} else {
		launches = append(launches, c.unpack(c.dqu, part(0), a.batch, a.l, c.tile))
	}
	launches = append(launches, c.unpack(c.dk, part(1), a.batch, a.s, a.s), c.unpack(c.dv, part(2), a.batch, a.s, a.s))
	return Kernel{Launches: launches, Scratch: c.scratch}
}

// gradients are a tile's launches: its weights again, and what flows from it into every operand. add says that dk and
// dv have been written.
func (c *attentionCard) gradients(t cardTile, dp cuda.Matrix, add bool) []cuda.Launch {
	beta := float32(0)
	if add {
		beta = 1
	}
	each := c.heads * c.batch
	dscore := c.over(c.scoresOf(c.dweight, t))
	if c.half { // behind the weights
		dscore.Ref = c.score.At(int64(t.row()) * 2)
	}
	launches := append(c.scores(t),
		cuda.Multiply(cuda.Product{
			M: t.rows, N: t.keys, K: c.dh(), TransB: true, Alpha: 1, Batch: each,
			A: c.queriesOf(c.dy, c.half, t), B: c.keysOf(c.v, c.half), C: c.scoresOf(c.dweight, t),
		}),
		c.softmaxGrad(t, dscore.Ref),
		cuda.Multiply(cuda.Product{
			M: t.keys, N: c.dh(), K: t.rows, TransA: true, Alpha: 1, Beta: beta, Batch: each,
			A: c.weights(t), B: c.queriesOf(c.dy, c.half, t), C: c.keysOf(c.dv, false),
		}),
		cuda.Multiply(cuda.Product{
			M: t.keys, N: c.dh(), K: t.rows, TransA: true, Alpha: c.scale(), Beta: beta, Batch: each,
			A: dscore, B: c.queriesOf(c.qu, c.half, t), C: c.keysOf(c.dk, false),
		}),
		cuda.Multiply(cuda.Product{
			M: t.rows, N: c.dh(), K: t.keys, Alpha: c.scale(), Batch: each,
			A: dscore, B: c.keysOf(c.k, c.half), C: c.queriesOf(c.dqu, false, t),
		}))
	if !c.relative {
		return launches
	}
	dp.Ref = dp.At(int64(c.low(t)*dp.Row) * 4)
	return append(launches,
		cuda.Multiply(cuda.Product{
			M: c.batch * t.rows, N: c.dh(), K: t.distances(), Alpha: c.scale(), Batch: c.heads,
			A: c.bandOf(t, true), B: c.distancesOf(t), C: c.headsOf(c.dqw, false, t),
		}),
		cuda.Multiply(cuda.Product{
			M: t.distances(), N: c.dh(), K: c.batch * t.rows, TransA: true, Alpha: c.scale(), Beta: 1, Batch: c.heads,
			A: c.bandOf(t, true), B: c.headsOf(c.qw, c.half, t), C: dp,
		}))
}

// softmaxGrad is the launch that makes a tile's weights and the gradients of its scores, by key and by distance.
func (c *attentionCard) softmaxGrad(t cardTile, dscore cuda.Ref) cuda.Launch {
	l := c.rows("attention_softmax_grad", t,
		cuda.Ptr(c.score), c.bandArg(), cuda.Ptr(c.dweight), cuda.Ptr(c.score), c.bandArg(), cuda.Ptr(dscore))
	rows := c.heads * c.batch * t.rows
	scores := rows * t.keys
	l.Bytes = int64(scores)*8 + 2*c.bytes(scores)
	l.FLOPs = 14 * float64(scores)
	if c.relative {
		l.Bytes += int64(scores)*4 + c.bytes(rows*t.distances())
		l.FLOPs += float64(scores)
	}
	return l
}

// gradBias are the launches that add dqu and dqw up: for dq, and over all queries for du and dw, which lie so many
// elements apart.
func (c *attentionCard) gradBias(dq, du cuda.Ref, apart int) []cuda.Launch {
	arrays := []cuda.Arg{cuda.Ptr(c.dqu), cuda.Ptr(c.dqw), cuda.Ptr(dq), cuda.Ptr(cuda.Temp())}
	first := c.panels(typed("attention_dq", c.of()), c.batch, c.l, arrays,
		cuda.Int(c.batch), cuda.Int(c.l), cuda.Int(c.d), cuda.Int(c.heads), cuda.Int(c.tile))
	queries, p := c.batch*c.l*c.d, c.panelSums()
	first.Bytes = floatBytes(2*queries) + c.bytes(queries) + p.bytes()
	first.FLOPs = 3 * float64(queries)
	return []cuda.Launch{first, p.sum(du, apart, 1, cuda.Int(0))}
}

// panelSums are the sums of dqu and dqw over each panel's rows. They begin the scratch memory.
func (c *attentionCard) panelSums() partials {
	return partials{c.batch, blocks(c.l, panelRows), 2, c.d}
}

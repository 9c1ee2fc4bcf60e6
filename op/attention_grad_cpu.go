package op

import "konkanitrain/internal/simd"

// attentionGrads are the parts of the packed gradient.
type attentionGrads struct {
	q, k, v []float32 // [B, L, d], [B, S, d], [B, S, d]
	p, u, w []float32 // [2S-1, d], [h, dh], [h, dh]: summed over the batch
}

// split takes the packed gradient apart.
func (a *attentionShape) split(packed []float32) attentionGrads {
	var g attentionGrads
	cut := func(n int) []float32 {
		part := packed[:n]
		packed = packed[n:]
		return part
	}
	g.q, g.k, g.v = cut(a.batch*a.l*a.d), cut(a.batch*a.s*a.d), cut(a.batch*a.s*a.d)
	if a.relative {
		g.p, g.u, g.w = cut((2*a.s-1)*a.d), cut(a.d), cut(a.d)
	}
	return g
}

// cpu: the scratch is a tile's space, and that of its weights and of what flows into q+u and q+w.
func (a *attentionGrad) cpu() Kernel {
	r := min(queryTile, a.l)
	scratch := a.tileSpace() + 16 + r*tileStride(r, a.s) + 2*roundUp(r*a.dh())
	return Kernel{Run: a.runCPU, Scratch: floatBytes(scratch)}
}

// runCPU is the backward kernel: dy and the forward operands -> the packed gradient.
func (a *attentionGrad) runCPU(e *Env, packed Tensor, in []Tensor) {
	dy, in := in[0], in[1:]
	clear(packed.Data)
	g := a.split(packed.Data)
	for b := range a.batch {
		queries, keys := a.lengths(in, b)
		if keys == 0 {
			continue
		}
		own := attentionGrads{q: g.q[b*a.l*a.d:][:a.l*a.d], k: g.k[b*a.s*a.d:][:a.s*a.d], v: g.v[b*a.s*a.d:][:a.s*a.d]}
		for h := range a.heads {
			x := a.head(in, b, h)
			col := h * a.dh()
			part := attentionGrads{q: own.q[col:], k: own.k[col:], v: own.v[col:]}
			if a.relative {
				part.p, part.u, part.w = g.p[col:], g.u[col:][:a.dh()], g.w[col:][:a.dh()]
			}
			for from := 0; from < queries; from += queryTile {
				a.tileGrad(e, &x, from, block(dy, b, a.batch)[from*a.d+col:], &part)
			}
		}
	}
}

// tileGrad adds the gradient of the queries from on of one head: dy [rows, dh] in rows of d.
func (a *attentionShape) tileGrad(e *Env, x *head, from int, dy []float32, g *attentionGrads) {
	space := e.Scratch
	t := a.tile(x, from, &space)
	dh, scale := a.dh(), a.scale()
	weight := take(&space, t.rows*t.stride) // before dropout
	a.scores(e, x, &t)

	// dv comes from the weights after dropout. With dropout they overwrite the scores in t.score, and those before it
	// stay in weight; without it weight is both.
	for i := range t.rows {
		w := weight[i*t.stride:][:t.keys]
		a.weights(w, &t, i)
		if a.dropping {
			simd.Dropout(t.row(i), w, a.dropRow(x, &t, i), x.drop)
		}
	}
	after := weight
	if a.dropping {
		after = t.score
	}
	e.BLAS.Sgemm(trans, noTrans, t.keys, dh, t.rows, 1, after, t.stride, dy, a.d, 1, g.v, a.d)

	// The gradient of the weights after dropout overwrites them in t.score; there dropout and softmax turn it, row by
	// row, into the gradient of the scores.
	e.BLAS.Sgemm(noTrans, trans, t.rows, t.keys, dh, 1, dy, a.d, x.v, a.d, 0, t.score, t.stride)
	for i := range t.rows {
		row := t.row(i)
		if a.dropping {
			simd.Dropout(row, row, a.dropRow(x, &t, i), x.drop)
		}
		n := a.sees(&t, i)
		simd.SoftmaxGrad(row[:n], weight[i*t.stride:][:n], row[:n])
		clear(row[n:])
	}
	if !a.relative {
		e.BLAS.Sgemm(noTrans, noTrans, t.rows, dh, t.keys, scale, t.score, t.stride, x.k, a.d, 0, g.q[from*a.d:], a.d)
		e.BLAS.Sgemm(trans, noTrans, t.keys, dh, t.rows, scale, t.score, t.stride, x.q[from*a.d:], a.d, 1, g.k, a.d)
		return
	}

	// The scores' gradient by distance [rows, distances] is t.band: the same memory, once 0 stands wherever a distance
	// belongs to no key.
	t.clearGaps()
	dqu, dqw := take(&space, t.rows*dh), take(&space, t.rows*dh)
	e.BLAS.Sgemm(noTrans, noTrans, t.rows, dh, t.keys, scale, t.score, t.stride, x.k, a.d, 0, dqu, dh)
	e.BLAS.Sgemm(noTrans, noTrans, t.rows, dh, t.distances, scale, t.band, t.stride+1, x.p[t.low*a.d:], a.d, 0, dqw, dh)
	e.BLAS.Sgemm(trans, noTrans, t.keys, dh, t.rows, scale, t.score, t.stride, t.qu, dh, 1, g.k, a.d)
	e.BLAS.Sgemm(trans, noTrans, t.distances, dh, t.rows, scale, t.band, t.stride+1, t.qw, dh, 1, g.p[t.low*a.d:], a.d)
	simd.ColumnSum(g.u, dqu, t.rows)
	simd.ColumnSum(g.w, dqw, t.rows)
	for i := range t.rows {
		simd.Add(g.q[(from+i)*a.d:][:dh], dqu[i*dh:][:dh], dqw[i*dh:][:dh])
	}
}

// clearGaps zeroes what lies between the rows of scores, before the first and after the last.
func (t *tile) clearGaps() {
	clear(t.band[:t.rows-1])
	for i := range t.rows {
		clear(t.score[i*t.stride+t.keys : (i+1)*t.stride])
	}
}

package op

import (
	"math"

	"konkanitrain/internal/simd"
)

// queryTile is the number of queries whose scores exist at a time. More rows let a product reuse its packed
// keys; fewer waste less of the relative term, which has rows-1 columns too many. Measured at 150 frames, 32 to 64
// are alike and 96 is slower.
const queryTile = 48

// head is one head of one utterance. Matrices start at the head's first column and have rows of d floats.
type head struct {
	q, k, v, p []float32 // [queries, dh], [keys, dh], [keys, dh], [2S-1, dh]
	u, w       []float32 // [dh]
	queries    int       // true ones
	keys       int
	number     int
	drop       simd.Drop
}

// tile is a run of a head's queries, with space of its worker.
//
// The relative term comes without a pass that shifts it: with r rows and n keys, the product of all distances
// needed is written as [r, r+n-1] into rows of stride+1 floats, where the element of row i (counted in the
// tile) and key j is r-1-i+j. That is r-1 + i*stride + j in all: seen from r-1 on with rows of stride floats, it is
// the matrix [r, n] of scores, into which q·k is added.
type tile struct {
	from, rows int
	keys       int       // that any of the queries sees
	low        int       // the first row of p needed
	distances  int       // how many rows of p are needed: rows+keys-1
	stride     int       // between rows of score
	band       []float32 // [rows, stride+1]: the scores by distance
	score      []float32 // [rows, stride]: the scores by key, in the same memory
	qu, qw     []float32 // [rows, dh]: q+u, q+w
}

func (a *attention) cpu() Kernel { return Kernel{Run: a.runCPU, Scratch: floatBytes(a.tileSpace())} }

// tileSpace is the number of floats of a tile: qu, qw and band.
func (a *attentionShape) tileSpace() int {
	r := min(queryTile, a.l)
	return 2*roundUp(r*a.d/a.heads) + r*(tileStride(r, a.s)+1)
}

// tileStride leaves room for all distances, and keeps rows of scores apart by whole cache lines.
func tileStride(rows, keys int) int { return roundUp(rows + keys) }

func (a *attentionShape) dh() int        { return a.d / a.heads }
func (a *attentionShape) scale() float32 { return float32(1 / math.Sqrt(float64(a.dh()))) }

// lengths is the number of true queries and keys of utterance b.
func (a *attentionShape) lengths(in []Tensor, b int) (queries, keys int) {
	n := a.floatOperands()
	return a.query.of(in[n].Ints, b, a.l), a.key.of(in[n+1].Ints, b, a.s)
}

// head is head h of utterance b.
func (a *attentionShape) head(in []Tensor, b, h int) head {
	col := h * a.dh()
	x := head{q: block(in[0], b, a.batch)[col:], k: block(in[1], b, a.batch)[col:], v: block(in[2], b, a.batch)[col:], number: h}
	x.queries, x.keys = a.lengths(in, b)
	if a.relative {
		x.p, x.u, x.w = in[3].Data[col:], in[4].Data[col:][:a.dh()], in[5].Data[col:][:a.dh()]
	}
	if a.dropping {
		x.drop = a.drop.of(in[a.floatOperands()+2].Ints, b)
	}
	return x
}

// tile prepares the queries from on, in space.
func (a *attentionShape) tile(x *head, from int, space *[]float32) tile {
	t := tile{from: from, rows: min(queryTile, x.queries-from), keys: x.keys}
	if a.causal {
		t.keys = min(t.keys, from+t.rows)
	}
	t.stride = tileStride(t.rows, t.keys)
	t.distances = t.rows + t.keys - 1
	t.low = a.s - from - t.rows
	t.qu, t.qw = take(space, t.rows*a.dh()), take(space, t.rows*a.dh())
	t.band = take(space, t.rows*(t.stride+1))
	t.score = t.band
	if a.relative {
		t.score = t.band[t.rows-1:]
	}
	return t
}

// sees is the number of keys that row i of the tile may look at.
func (a *attentionShape) sees(t *tile, i int) int {
	if a.causal {
		return min(t.keys, t.from+i+1)
	}
	return t.keys
}

// row is row i of the scores.
func (t *tile) row(i int) []float32 { return t.score[i*t.stride:][:t.keys] }

// scores fills t.score with the scores before the softmax.
func (a *attentionShape) scores(e *Env, x *head, t *tile) {
	dh := a.dh()
	if !a.relative {
		e.BLAS.Sgemm(noTrans, trans, t.rows, t.keys, dh, a.scale(), x.q[t.from*a.d:], a.d, x.k, a.d, 0, t.score, t.stride)
		return
	}
	for i := range t.rows {
		q := x.q[(t.from+i)*a.d:][:dh]
		simd.Add(t.qu[i*dh:][:dh], q, x.u)
		simd.Add(t.qw[i*dh:][:dh], q, x.w)
	}
	e.BLAS.Sgemm(noTrans, trans, t.rows, t.distances, dh, a.scale(), t.qw, dh, x.p[t.low*a.d:], a.d, 0, t.band, t.stride+1)
	e.BLAS.Sgemm(noTrans, trans, t.rows, t.keys, dh, a.scale(), t.qu, dh, x.k, a.d, 1, t.score, t.stride)
}

// weights turns row i of the scores into dst, the weights before dropout; what a causal row can't see is 0.
func (a *attentionShape) weights(dst []float32, t *tile, i int) {
	n := a.sees(t, i)
	simd.Softmax(dst[:n], t.row(i)[:n])
	clear(dst[n:])
}

// dropRow is the row whose draws belong to row i of the tile.
func (a *attentionShape) dropRow(x *head, t *tile, i int) uint32 {
	return uint32((t.from+i)*a.heads + x.number)
}

// runCPU is the forward kernel.
func (a *attention) runCPU(e *Env, y Tensor, in []Tensor) {
	for b := range a.batch {
		out := block(y, b, a.batch)
		queries, keys := a.lengths(in, b)
		if keys == 0 {
			queries = 0
		}
		for h := range a.heads {
			x := a.head(in, b, h)
			for from := 0; from < queries; from += queryTile {
				space := e.Scratch
				t := a.tile(&x, from, &space)
				a.scores(e, &x, &t)
				for i := range t.rows {
					row := t.row(i)
					a.weights(row, &t, i)
					if a.dropping {
						simd.Dropout(row, row, a.dropRow(&x, &t, i), x.drop)
					}
				}
				e.BLAS.Sgemm(noTrans, noTrans, t.rows, a.dh(), t.keys, 1, t.score, t.stride, x.v, a.d, 0, out[from*a.d+h*a.dh():], a.d)
			}
		}
		clear(out[queries*a.d:])
	}
}

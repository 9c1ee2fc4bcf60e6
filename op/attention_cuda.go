package op

import "konkanitrain/device/cuda"

// A card goes by tiles of queries with all their keys, as the CPU does, and each launch takes all heads of all
// utterances. A head of an utterance has no uniform stride in [B, S, d], so the operands are packed head by head first.
// That moves each once more: 6 MB for two utterances of 750 frames of width 256 in float16, 20 us at 300 GB/s. A
// product for each head would instead be heads-1 more launches of 3 to 5 us for every product of every tile, and each
// would have too little work to fill a card. Packing also puts 0 into the rows past a length, so that nothing there can
// spread; the results of these rows are exact zeros then, because their weights are.
//
// The relative term of a tile is the product of its rows of all utterances with the rows of p that it needs, one for
// each head: [B*rows, distances], distances = rows+S-1. The softmax finds the score of query i (counted in the tile)
// and key j at distance rows-1-i+j.

// Tiles of a card, in queries: a multiple of 64, so that a block of a kernel that goes by 64 rows has one of them.
//
// Forward, a tile is the largest of these whose scores stay within tileBytes: more queries are fewer launches, and no
// row depends on what else is in its tile. Of large batches the smallest tile may take more: it is then 64/L of what
// the scores of all queries would take.
//
// Backward, a tile is always gradTile: where tiles end decides how dk and dv are rounded, and that must not depend on
// the batch or its padding. Its scores, dweight and relative term take B*h*128*(3S+128) float32s, some 400/dh of what
// one operand takes; what is packed beside them takes 9 more. So the scratch memory is some 16 times an operand for
// heads of 64, whatever the length.
var forwardTiles = []int{256, 128, 64}

const (
	gradTile  = 128
	tileBytes = 16 << 20
)

// attentionCard is a card's work for one op. Everything of it lies in the scratch memory.
type attentionCard struct {
	attentionShape
	half    bool // activations, and what products read, are float16
	first   int  // the operand q: after dy in the backward pass
	tile    int
	scratch int64 // bytes

	// Packed: the queries' q+u, q+w, dy by tiles, and the keys'. They are activations; y, dqu, dqw, dk, dv are float32.
	qu, qw, dy, k, v     cuda.Ref
	y, dqu, dqw, dk, dv  cuda.Ref
	score, dweight, band cuda.Ref // of a tile
}

// cardTile is a run of queries with the keys that they are multiplied with.
type cardTile struct{ from, rows, keys int }

func newAttentionCard(a attentionShape, s Setting, first, tile int) *attentionCard {
	c := &attentionCard{attentionShape: a, half: s.Half, first: first, tile: min(tile, a.l)}
	if first > 0 && a.relative {
		c.take(int(c.panelSums().bytes()/4), false)
	}
	c.qu, c.k, c.v = c.take(a.batch*a.l*a.d, true), c.take(a.batch*a.s*a.d, true), c.take(a.batch*a.s*a.d, true)
	c.score = c.take(a.heads*a.batch*c.tile*scoreRow(a.s), false)
	if a.relative {
		c.qw = c.take(a.batch*a.l*a.d, true)
		c.band = c.take(a.heads*a.batch*c.tile*scoreRow(c.tile+a.s-1), false)
	}
	return c
}

// take is scratch memory for so many activations, or float32s.
func (c *attentionCard) take(elements int, activations bool) cuda.Ref {
	r := cuda.Temp().At(c.scratch)
	_, bytes := Packed([]Part{{elements, activations}}, c.half)
	c.scratch += bytes
	return r
}

// scoreRow is the space of a row of n scores: products want rows that begin at multiples of 16 bytes.
func scoreRow(n int) int { return (n + 7) &^ 7 }

func (c *attentionCard) of() DType {
	if c.half {
		return Float16
	}
	return Float32
}

// tiles are those of all queries. In causal attention a tile has no use for keys behind its queries; the last one has
// all keys even so.
func (c *attentionCard) tiles() []cardTile {
	var tiles []cardTile
	for from := 0; from < c.l; from += c.tile {
		t := cardTile{from, min(c.tile, c.l-from), c.s}
		if end := from + t.rows; c.causal && end < c.l {
			t.keys = min(c.s, end)
		}
		tiles = append(tiles, t)
	}
	return tiles
}

func (a *attention) precision() Precision { return Precision{In: a.activations(), Out: Halved} }

// activations says which operands are, from q on.
func (a *attentionShape) activations() []bool {
	if a.relative {
		return []bool{true, true, true, true, false, false}
	}
	return []bool{true, true, true}
}

// cuda: every operand but p is read before anything is written.
func (a *attention) cuda(s Setting) Kernel {
	c := newAttentionCard(a.attentionShape, s, 0, a.forwardTile())
	c.y = c.take(a.batch*a.l*a.d, false)
	launches := []cuda.Launch{c.pack()}
	for _, t := range c.tiles() {
		launches = append(launches, c.scores(t)...)
		launches = append(launches, c.softmax(t), cuda.Multiply(cuda.Product{
			M: t.rows, N: a.dh(), K: t.keys, Alpha: 1, Batch: a.heads * a.batch,
			A: c.weights(t), B: c.keysOf(c.v, c.half), C: c.queriesOf(c.y, false, t),
		}))
	}
	inPlace := []int{0}
	if a.l == a.s {
		inPlace = []int{0, 1, 2}
	}
	return Kernel{InPlace: inPlace, Scratch: c.scratch, Launches: append(launches, c.unpack(c.y, cuda.Out(), a.batch, a.l, c.tile))}
}

func (a *attentionShape) forwardTile() int {
	for _, rows := range forwardTiles {
		tile := min(rows, a.l)
		row := scoreRow(a.s)
		if a.relative {
			row += scoreRow(tile + a.s - 1)
		}
		if floatBytes(a.heads*a.batch*tile*row) <= tileBytes {
			return rows
		}
	}
	return forwardTiles[len(forwardTiles)-1]
}

// scores are the products that make a tile's scores, and the relative term by distance.
func (c *attentionCard) scores(t cardTile) []cuda.Launch {
	launches := []cuda.Launch{cuda.Multiply(cuda.Product{
		M: t.rows, N: t.keys, K: c.dh(), TransB: true, Alpha: c.scale(), Batch: c.heads * c.batch,
		A: c.queriesOf(c.qu, c.half, t), B: c.keysOf(c.k, c.half), C: c.scoresOf(c.score, t),
	})}
	if c.relative {
		launches = append(launches, cuda.Multiply(cuda.Product{
			M: c.batch * t.rows, N: t.distances(), K: c.dh(), TransB: true, Alpha: c.scale(), Batch: c.heads,
			A: c.headsOf(c.qw, c.half, t), B: c.distancesOf(t), C: c.bandOf(t, false),
		}))
	}
	return launches
}

// distances is the number of rows of p that a tile needs, from row low on.
func (t cardTile) distances() int            { return t.rows + t.keys - 1 }
func (a *attentionShape) low(t cardTile) int { return a.s - t.from - t.rows }

// row and band are the space of a tile's rows of scores and of the relative term.
func (t cardTile) row() int  { return scoreRow(t.keys) }
func (t cardTile) band() int { return scoreRow(t.distances()) }

// bytes is what n activations take.
func (c *attentionCard) bytes(n int) int64 { return int64(n) * c.of().Bytes() }

// queriesOf are the tile's rows of a packed array: [rows, dh] for each head and utterance; headsOf are those of all
// utterances: [B*rows, dh] for each head.
func (c *attentionCard) queriesOf(r cuda.Ref, half bool, t cardTile) cuda.Matrix {
	at := int64(t.from*c.batch*c.d) * 4
	if half {
		at /= 2
	}
	return cuda.Matrix{Ref: r.At(at), Half: half, Row: c.dh(), Stride: int64(t.rows * c.dh())}
}

func (c *attentionCard) headsOf(r cuda.Ref, half bool, t cardTile) cuda.Matrix {
	m := c.queriesOf(r, half, t)
	m.Stride *= int64(c.batch)
	return m
}

// keysOf is a packed array of keys: [S, dh] for each head and utterance.
func (c *attentionCard) keysOf(r cuda.Ref, half bool) cuda.Matrix {
	return cuda.Matrix{Ref: r, Half: half, Row: c.dh(), Stride: int64(c.s * c.dh())}
}

// distancesOf are the tile's rows of p: [distances, dh] for each head.
func (c *attentionCard) distancesOf(t cardTile) cuda.Matrix {
	return cuda.Matrix{Ref: cuda.In(c.first + 3).At(c.bytes(c.low(t) * c.d)), Half: c.half, Row: c.d, Stride: int64(c.dh())}
}

// scoresOf are a tile's scores, float32 [rows, keys] for each head and utterance.
func (c *attentionCard) scoresOf(r cuda.Ref, t cardTile) cuda.Matrix {
	return cuda.Matrix{Ref: r, Row: t.row(), Stride: int64(t.rows * t.row())}
}

// weights are what overwrites the scores: the rows lie where theirs did.
func (c *attentionCard) weights(t cardTile) cuda.Matrix { return c.over(c.scoresOf(c.score, t)) }

// over is a matrix of activations in the rows of a float32 one.
func (c *attentionCard) over(m cuda.Matrix) cuda.Matrix {
	if c.half {
		m.Half, m.Row, m.Stride = true, 2*m.Row, 2*m.Stride
	}
	return m
}

// bandOf is the relative term by distance, float32 [B*rows, distances] for each head, or what overwrites it.
func (c *attentionCard) bandOf(t cardTile, overwritten bool) cuda.Matrix {
	m := cuda.Matrix{Ref: c.band, Row: t.band(), Stride: int64(c.batch * t.rows * t.band())}
	if overwritten {
		return c.over(m)
	}
	return m
}

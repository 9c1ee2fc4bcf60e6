package update

import (
	"cmp"
	"math/bits"
	"slices"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/model"
)

// microBatch is what one run of a program computes: rows of a window, padded to a bucket's shape.
type microBatch struct {
	rows   []int // positions in the window
	shape  model.Shape
	worker int
}

// dealer splits windows into micro-batches. It keeps its memory, so that dealing allocates nothing once windows
// of the size have been met.
type dealer struct {
	net       model.Config
	batchSize int // the most rows of a micro-batch
	wishes    engine.Wishes

	order   []int // the rows, longest first
	batches []microBatch
	load    []float64 // of each worker
}

// deal splits a window into micro-batches and deals them to workers: longest first, each to the worker with the least
// to do. It goes by what is known of the rows before their files are read, so that the shapes of a whole run are known
// before it begins, and a window is always dealt alike. Batch invariance makes every dealing give the same update, to
// rounding. The result is valid until the next call.
func (d *dealer) deal(rows []data.Length) []microBatch {
	d.order, d.batches, d.load = d.order[:0], d.batches[:0], d.load[:0]
	for i, r := range rows {
		if r.Frames > 0 {
			d.order = append(d.order, i)
		}
	}
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(rows[b].Frames, rows[a].Frames) })
	share := (len(d.order) + d.wishes.Workers - 1) / d.wishes.Workers // a worker's equal part, rounded up
	for rest := d.order; len(rest) > 0; {
		longest := rows[rest[0]].Frames
		encoded := model.Shape{Frames: longest}.Encoded(d.net)
		n := min(d.batchSize, max(1, d.wishes.Rows/encoded), share, len(rest))
		n = 1 << (bits.Len(uint(n)) - 1) // powers of two: few shapes, few programs
		tokens := 1
		for _, i := range rest[:n] {
			tokens = max(tokens, rows[i].Tokens)
		}
		d.batches = append(d.batches, microBatch{rows: rest[:n], shape: bucket(n, longest, tokens, d.net)})
		rest = rest[n:]
	}
	for range d.wishes.Workers {
		d.load = append(d.load, 0)
	}
	slices.SortStableFunc(d.batches, func(a, b microBatch) int { return cmp.Compare(Cost(b.shape, d.net), Cost(a.shape, d.net)) })
	for i := range d.batches {
		w := 0
		for k := range d.load {
			if d.load[k] < d.load[w] {
				w = k
			}
		}
		d.batches[i].worker = w
		d.load[w] += Cost(d.batches[i].shape, d.net)
	}
	return d.batches
}

// bucket is the shape that a batch is padded to. Encoder frames go up in steps of an eighth of their number at most,
// tokens of a quarter, so that a run meets few shapes and pads little.
func bucket(rows, frames, tokens int, c model.Config) model.Shape {
	encoded := model.Shape{Frames: frames}.Encoded(c)
	return model.Shape{Batch: rows, Frames: roundUp(encoded, 3) * c.Subsampling, Tokens: roundUp(tokens, 2)}
}

// roundUp is the next number with no more than digits+1 leading binary digits, 4 or more.
func roundUp(n, digits int) int {
	step := 1 << max(bits.Len(uint(max(n, 4)-1))-1-digits, 0)
	return max(4, (n+step-1)/step*step)
}

// Cost is the relative time of a micro-batch: a linear part, and attention's quadratic one.
func Cost(s model.Shape, c model.Config) float64 {
	n := float64(s.Encoded(c))
	return float64(s.Batch) * n * (float64(24*c.DModel) + 6*n)
}

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
	rows      []int // positions in the window
	shape     model.Shape
	recompute engine.Recompute
	worker    int
}

// dealer splits windows into micro-batches. It keeps its memory, so that dealing allocates nothing once windows
// of the size have been met.
type dealer struct {
	net       model.Config
	batchSize int // the most rows of a micro-batch
	wishes    engine.Wishes
	fit       *Fit // nil: there is room for everything

	order   []int // the rows, longest first
	left    []int // the rows that don't fit even alone
	batches []microBatch
	load    []float64 // of each worker
}

// deal splits a window into micro-batches and deals them to workers: longest first, each to the worker with the least
// to do. It goes by what is known of the rows before their files are read, so that the shapes of a whole run are known
// before it begins, and a window is always dealt alike. Batch invariance makes every dealing give the same update, to
// rounding. What doesn't fit even alone is left. The result is valid until the next call.
func (d *dealer) deal(rows []data.Length, ask Ask) ([]microBatch, error) {
	d.order, d.left, d.batches, d.load = d.order[:0], d.left[:0], d.batches[:0], d.load[:0]
	for i, r := range rows {
		if r.Frames > 0 {
			d.order = append(d.order, i)
		}
	}
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(rows[b].Frames, rows[a].Frames) })
	share := (len(d.order) + d.wishes.Workers - 1) / d.wishes.Workers // a worker's equal part, rounded up
	for rest := d.order; len(rest) > 0; {
		encoded := model.Shape{Frames: rows[rest[0]].Frames}.Encoded(d.net)
		n := min(d.batchSize, max(1, d.wishes.Rows/encoded), share, len(rest))
		b, fits, err := d.batch(rows, rest, 1<<(bits.Len(uint(n))-1), ask) // powers of two: few shapes, few programs
		if err != nil {
			return nil, err
		}
		if fits {
			d.batches = append(d.batches, b)
		} else {
			d.left = append(d.left, b.rows...)
		}
		rest = rest[len(b.rows):]
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
	return d.batches, nil
}

// batch takes up to n of the rows, the fastest number of those that fit. Where not even one does, it is the first row,
// and fits is false.
func (d *dealer) batch(rows []data.Length, rest []int, n int, ask Ask) (best microBatch, fits bool, err error) {
	seconds := 0.0 // of best, for each row
	for ; n >= 1; n /= 2 {
		tokens := 1
		for _, i := range rest[:n] {
			tokens = max(tokens, rows[i].Tokens)
		}
		b := microBatch{rows: rest[:n], shape: bucket(n, rows[rest[0]].Frames, tokens, d.net)}
		w := way{fits: true}
		if d.fit != nil {
			if w, err = d.fit.way(ask, b.shape); err != nil {
				return b, false, err
			}
		}
		b.recompute = w.recompute
		if each := w.seconds / float64(n); w.fits && (!fits || each < seconds) {
			best, fits, seconds = b, true, each
		}
		if w.fits && (d.fit == nil || w.recompute == d.fit.first(ask.Purpose)) {
			break // fewer rows would not be faster
		}
		if n == 1 && !fits {
			return b, false, nil
		}
	}
	return best, fits, nil
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

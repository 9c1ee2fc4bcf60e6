package update

import (
	"cmp"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/model"
)

// Windows is what has to be known of a set to know its shapes: a data.Loader.
type Windows interface {
	// Windows is the number of windows in an epoch, 1 or more.
	Windows() int
	// Lengths are the rows of window k of an epoch, in into's memory where that suffices. It is called by several
	// goroutines.
	Lengths(epoch, k int, into []data.Length) []data.Length
}

// Span is a stretch of a run: Count windows, the first of which is window From of epoch Epoch.
type Span struct{ Epoch, From, Count int }

// Met is a batch shape that a run meets.
type Met struct {
	Variant
	Times int // how often
	// Where it is met first: a window of an epoch, and the row in it that is the longest of the micro-batch.
	Epoch, Window, Row int
}

// Left is an utterance that is left out for lack of memory.
type Left struct{ Epoch, Window, Row int }

// Shapes lists the batch shapes that a stretch of a run meets, exactly: order, speeds and lengths depend on the set,
// the seed and the epoch alone, and dealing depends on nothing else but Fit. No file is read. The largest batches come
// first; left, in the order in which they come, are the rows that don't fit. Neither list depends on how many
// goroutines made it.
func (r *Runner) Shapes(w Windows, s Span, ask Ask) (met []Met, left []Left, err error) {
	per := w.Windows()
	parts := make([]tally, max(0, min(runtime.GOMAXPROCS(0), s.Count)))
	rest, errs := make([][]Left, len(parts)), make([]error, len(parts))
	var next atomic.Int64
	var wait sync.WaitGroup
	for i := range parts {
		parts[i] = tally{}
		wait.Go(func() {
			d := dealer{net: r.Net, batchSize: r.dealer.batchSize, wishes: r.dealer.wishes, fit: r.Fit}
			var rows []data.Length
			// Window by window, since a loader keeps the order of few epochs at a time.
			for n := int(next.Add(1)) - 1; n < s.Count; n = int(next.Add(1)) - 1 {
				if r.Until != nil {
					if errs[i] = r.Until(); errs[i] != nil {
						return
					}
				}
				epoch, k := s.Epoch+(s.From+n)/per, (s.From+n)%per
				rows = w.Lengths(epoch, k, rows[:0])
				batches, err := d.deal(rows, ask)
				if err != nil {
					errs[i] = err
					return
				}
				for _, b := range batches {
					parts[i].add(Met{Variant: ask.variant(b.shape, b.recompute), Times: 1, Epoch: epoch, Window: k, Row: b.rows[0]})
				}
				for _, row := range d.left {
					rest[i] = append(rest[i], Left{epoch, k, row})
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	left = slices.Concat(rest...)
	slices.SortFunc(left, func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Window, b.Window), cmp.Compare(a.Row, b.Row))
	})
	all := tally{}
	for _, part := range parts {
		for _, m := range part {
			all.add(m)
		}
	}
	met = slices.SortedFunc(maps.Values(all), func(a, b Met) int {
		return cmp.Or(cmp.Compare(b.Batch, a.Batch), cmp.Compare(b.Frames, a.Frames), cmp.Compare(b.Tokens, a.Tokens),
			cmp.Compare(a.Recompute, b.Recompute))
	})
	return met, left, nil
}

// tally counts the shapes that were met.
type tally map[Variant]Met

// add counts m. Of two with the same shape the one that is met first stays.
func (t tally) add(m Met) {
	if other, known := t[m.Variant]; known {
		times := m.Times + other.Times
		if cmp.Or(cmp.Compare(other.Epoch, m.Epoch), cmp.Compare(other.Window, m.Window)) <= 0 {
			m = other
		}
		m.Times = times
	}
	t[m.Variant] = m
}

// Largest is the shape of those met whose arena takes the most bytes, the first of several. Each is compiled for its
// price, which is kept. Without shapes bytes is 0.
func (r *Runner) Largest(met []Met) (most Met, bytes int64, err error) {
	keys := make([]Variant, len(met))
	for i, m := range met {
		keys[i] = m.Variant
	}
	prices, err := r.Replica.Prices(keys)
	if err != nil {
		return Met{}, 0, err
	}
	for i, p := range prices {
		if p.Bytes > bytes {
			most, bytes = met[i], p.Bytes
		}
	}
	return most, bytes, nil
}

// Padded is the program that recognizes so many rows of up to so many feature frames.
func Padded(p model.Purpose, rows, frames int, c model.Config) Variant {
	return Ask{Purpose: p}.variant(bucket(rows, frames, 1, c), engine.RecomputeNone)
}

package update

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"konkanitrain/data"
)

// Windows is what has to be known of a set to know its shapes: a data.Loader.
type Windows interface {
	// Windows is the number of windows in an epoch.
	Windows() int
	// Lengths are the rows of window k of an epoch, appended to into[:0].
	Lengths(epoch, k int, into []data.Length) []data.Length
}

// Span is a stretch of a run: windows From (of epoch Epoch) and later, Count in all.
type Span struct{ Epoch, From, Count int }

// Met is a batch shape that a run meets.
type Met struct {
	Variant
	Times int // how often
	// Where it is met first: a window of an epoch, and the row in it that is the longest of the micro-batch.
	Epoch, Window, Row int
}

// Shapes lists the batch shapes that a stretch of a run meets, exactly: order, speeds and lengths depend on the set, the
// seed and the epoch alone, and dealing depends on nothing else. No file is read. The list is sorted, and the same for
// the same set whatever the number of cores.
func (r *Runner) Shapes(w Windows, s Span, ask Ask) []Met {
	per := w.Windows()
	epochs := (s.From + s.Count + per - 1) / per
	met := make([]map[Variant]Met, epochs)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), epochs) {
		wait.Go(func() {
			d := dealer{net: r.Net, batchSize: r.dealer.batchSize, wishes: r.dealer.wishes}
			var rows []data.Length
			for i := int(next.Add(1) - 1); i < epochs; i = int(next.Add(1) - 1) {
				met[i] = map[Variant]Met{}
				from, to := 0, min(per, s.From+s.Count-i*per)
				if i == 0 {
					from = s.From
				}
				for k := from; k < to; k++ {
					rows = w.Lengths(s.Epoch+i, k, rows[:0])
					for _, b := range d.deal(rows) {
						v := ask.variant(b.shape)
						m, known := met[i][v]
						if !known {
							m = Met{Variant: v, Epoch: s.Epoch + i, Window: k, Row: b.rows[0]}
						}
						m.Times++
						met[i][v] = m
					}
				}
			}
		})
	}
	wait.Wait()
	all := map[Variant]Met{}
	for _, part := range met {
		for v, m := range part {
			if first, known := all[v]; known {
				first.Times += m.Times
				m = first
			}
			all[v] = m
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Met) int {
		return cmp.Or(cmp.Compare(b.Batch, a.Batch), cmp.Compare(b.Frames, a.Frames), cmp.Compare(b.Tokens, a.Tokens))
	})
}

// Largest is the shape of those met whose arena takes the most bytes. Each is compiled, and stays so for the run.
func (r *Runner) Largest(met []Met) (most Met, bytes int64, err error) {
	keys := make([]Variant, len(met))
	for i, m := range met {
		keys[i] = m.Variant
	}
	prices, err := r.Replica.Prices(keys)
	for i, p := range prices {
		if p.Bytes > bytes {
			most, bytes = met[i], p.Bytes
		}
	}
	return most, bytes, err
}

// Alone is the bytes of the arena for a pass over a single utterance.
func (r *Runner) Alone(frames, tokens int, ask Ask) (int64, error) {
	prices, err := r.Replica.Prices([]Variant{ask.variant(bucket(1, frames, max(tokens, 1), r.Net))})
	if err != nil {
		return 0, err
	}
	return prices[0].Bytes, nil
}

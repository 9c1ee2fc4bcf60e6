package update

import (
	"fmt"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
)

// Estimate is what a pass over a window takes.
type Estimate struct {
	Bytes   int64     // of the largest arena
	Seconds float64   // until the last worker is done, by Fit.Costs; 0 without costs
	Batches []Variant // the micro-batches' programs
}

// Estimate says what a pass over rows of these lengths takes, as Fit would have it made. Nothing runs.
func (r *Runner) Estimate(rows []data.Length, ask Ask) (e Estimate, err error) {
	d := dealer{net: r.Net, batchSize: r.dealer.batchSize, wishes: r.dealer.wishes, fit: r.Fit}
	batches, err := d.deal(rows, ask)
	if err != nil {
		return e, err
	}
	load := make([]float64, d.wishes.Workers)
	for _, b := range batches {
		e.Batches = append(e.Batches, ask.variant(b.shape, b.recompute))
		prices, err := r.Replica.Prices(e.Batches[len(e.Batches)-1:])
		if err != nil {
			return e, err
		}
		e.Bytes = max(e.Bytes, prices[0].Bytes)
		if r.Fit.Costs != nil {
			load[b.worker] += r.Fit.Costs.Seconds(prices[0])
			e.Seconds = max(e.Seconds, load[b.worker])
		}
	}
	return e, nil
}

// Least is what a pass over one row takes at the least, in bytes of an arena.
func (r *Runner) Least(row data.Length, ask Ask) (int64, error) {
	w, err := r.Fit.fastest(ask, bucket(1, row.Frames, max(1, row.Tokens), r.Net))
	return w.least, err
}

// Measure makes two passes over made-up utterances, a micro-batch of v for each worker, and says what ops cost here:
// see [engine.Replica]. It is called before the first pass or between two updates.
func (r *Runner) Measure(v Variant) (*engine.Costs, error) {
	r.load(madeUp(r.Net, v.Shape, r.dealer.wishes.Workers), Ask{Purpose: v.Purpose, Half: v.Half, Scale: 1})
	var batches []microBatch
	for w := range r.dealer.wishes.Workers {
		b := microBatch{shape: v.Shape, recompute: v.Recompute, worker: w}
		for row := range v.Batch {
			b.rows = append(b.rows, w*v.Batch+row)
		}
		batches = append(batches, b)
	}
	r.dispatch(batches)
	if err := r.Replica.Prepare(r.pass.Batches, 0); err != nil {
		return nil, err
	}
	return r.Replica.Measure(&r.pass)
}

// madeUp is utterances that fill a shape, of random features and of tokens in turn, as many rows for each worker.
func madeUp(net model.Config, s model.Shape, workers int) []*data.Example {
	var window []*data.Example
	for i := range workers * s.Batch {
		e := &data.Example{
			Utt: &data.Utterance{ID: fmt.Sprint("made-up ", i), Key: uint64(i)}, Frames: s.Frames, Planned: s.Frames,
			Features: make([]float32, s.Frames*net.NumMels),
		}
		random := philox.NewStream(philox.Key(uint64(i)), 0)
		for k := range e.Features {
			e.Features[k] = float32(random.Float64() - 0.5)
		}
		for k := range s.Tokens {
			e.Tokens = append(e.Tokens, int32(3+k%max(net.Vocab-3, 1)))
		}
		window = append(window, e)
	}
	return window
}

package data

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
)

// statisticsParts is how many parts a set is cut into. The sums of the parts are added in a fixed order, so the
// statistics are the same to the last bit with any number of workers.
const statisticsParts = 64

// Statistics computes mean and deviation per bin over all frames of a set, unaugmented, for global
// normalisation. A file that can't be read is an error.
func Statistics(ctx context.Context, s *Set, o feature.Options, workers int) (*feature.Stats, error) {
	o.Normalize, o.Stats = feature.None, nil
	if o.Resampler == nil {
		o.Resampler = audio.NewResampler()
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	n := len(s.Utterances)
	parts := make([]*feature.Accumulator, min(statisticsParts, n))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(max(workers, 1), len(parts)) {
		wait.Go(func() {
			x, err := feature.New(o)
			if err != nil {
				stop(err)
				return
			}
			var buffer []float32
			for i := int(next.Add(1) - 1); i < len(parts); i = int(next.Add(1) - 1) {
				parts[i] = feature.NewAccumulator(x.Bins())
				for _, u := range s.Utterances[i*n/len(parts) : (i+1)*n/len(parts)] {
					if ctx.Err() != nil {
						return
					}
					r, err := x.File(buffer, u.Path, u.Offset, u.Duration, nil, 0)
					if err != nil {
						stop(fmt.Errorf("statistics: %s (%s, line %d): %w", u.ID, u.File, u.Line, err))
						return
					}
					buffer = r.Features
					if err := parts[i].Add(r.Features); err != nil {
						stop(fmt.Errorf("%s: %w", u.ID, err))
						return
					}
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	sum := feature.NewAccumulator(o.NumMels)
	for _, p := range parts {
		if err := sum.Merge(p); err != nil {
			return nil, err
		}
	}
	return sum.Stats()
}

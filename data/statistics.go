package data

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
)

// statisticsParts is how many parts a set is cut into. The sums of the parts are added in a fixed order, so the
// statistics are the same to the last bit with any number of workers.
const statisticsParts = 64

// Statistics computes mean and deviation per bin over all frames of a set, unaugmented, for global normalization. What
// can't be read, or has no sound in it, is left out, as in training, and is in the Set's News; it is an error if that
// is more than the limit on bad lines allows, or everything.
func Statistics(ctx context.Context, s *Set, o feature.Options, workers int) (*feature.Stats, error) {
	o.Normalize, o.Stats = feature.None, nil
	if o.Resampler == nil {
		o.Resampler = audio.NewResampler()
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	n := s.Len()
	if n == 0 {
		return nil, fmt.Errorf("statistics: %s: no utterances", s.Path)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
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
			for i := int(next.Add(1) - 1); i < len(parts); i = int(next.Add(1) - 1) {
				if parts[i], err = s.sum(ctx, i*n/len(parts), (i+1)*n/len(parts), x); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.TooManyBad(); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	all := feature.NewAccumulator(o.NumMels)
	for _, p := range parts {
		if err := all.Merge(p); err != nil {
			return nil, err
		}
	}
	return all.Stats()
}

// sum adds up the features of the utterances from one place to before another, without those that training leaves out.
func (s *Set) sum(ctx context.Context, from, to int, x *feature.Extractor) (*feature.Accumulator, error) {
	sum := feature.NewAccumulator(x.Bins())
	var reader audio.Reader
	var features []float32
	for i := from; i < to; i++ {
		u := s.At(i)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		wave, warnings, err := u.read(&reader)
		if err == nil && silent(wave) {
			s.found(u, Silent, strings.Join(warnings, "; "), true)
			continue
		}
		if err == nil {
			features, _, err = x.Extract(features, wave, u.Rate(), nil, 0)
		}
		if err != nil {
			s.found(u, Unreadable, err.Error(), true)
			continue
		}
		if err := sum.Add(features); err != nil {
			return nil, fmt.Errorf("statistics: %s: %w", u.ID, err)
		}
	}
	return sum, nil
}

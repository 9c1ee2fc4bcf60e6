package audit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"konkanitrain/data"
	"konkanitrain/data/audio"
)

// hear reads the sound of every utterance.
func (a *audit) hear(ctx context.Context) error {
	if a.options.SkipSound {
		a.report.Notes = append(a.report.Notes, "sound was not read: silence, clipping, levels and equal sounds are not known")
		return nil
	}
	var mu sync.Mutex
	var done atomic.Int64
	err := a.each(ctx, len(a.all), func(i int, r *hearing) {
		e := &a.all[i]
		x, err := r.read(a.utterance(i))
		if err != nil {
			e.state = broken
			mu.Lock()
			a.errors = append(a.errors, trouble{i, err.Error()})
			mu.Unlock()
		} else {
			e.sound = r.meter.measure(x, int(e.rate))
		}
		a.options.Progress(int(done.Add(1)), len(a.all))
	})
	slices.SortFunc(a.errors, func(x, y trouble) int { return x.at - y.at })
	return err
}

// hearing is what one goroutine reads and measures with.
type hearing struct {
	reader audio.Reader
	meter  meter
}

// read reads the samples of an utterance, which the next read overwrites.
func (h *hearing) read(u *data.Utterance) ([]float32, error) {
	_, x, err := h.reader.Read(u.Recording.Source, &u.Recording.Info, u.Offset, u.Duration)
	return x, err
}

// each calls work for 0 to n-1 on all workers, until the context ends.
func (a *audit) each(ctx context.Context, n int, work func(i int, h *hearing)) error {
	const piece = 16 // in a row: parts of one recording are mostly beside each other
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(a.options.Workers, (n+piece-1)/piece) {
		wait.Go(func() {
			h := &hearing{}
			for from := int(next.Add(piece) - piece); from < n; from = int(next.Add(piece) - piece) {
				for i := from; i < min(from+piece, n); i++ {
					if ctx.Err() != nil {
						return
					}
					work(i, h)
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// peak is the pass that takes the most memory of those that go through a loader.
type peak struct {
	update.Met
	bytes  int64 // of each arena
	loader *data.Loader
}

// planMemory makes every worker's arena as large as the largest pass of the run needs, in training, validation and
// test, and says what the run takes in memory: what doesn't fit fails here, not after the first epoch. Which shapes come
// is known: lengths, order and dealing depend on manifest, seed and epoch alone.
func (r *run) planMemory() error {
	training, err := r.largest(r.sets.loader, r.stretch(), update.Ask{Purpose: model.Training, Half: r.cfg.Run.FP16})
	if err != nil {
		return err
	}
	most := training
	for _, s := range []*scored{r.sets.val, r.sets.test} {
		if s == nil {
			continue
		}
		p, err := r.largest(s.loader, update.Span{Count: s.loader.Windows()}, update.Ask{Purpose: model.Scoring})
		if err != nil {
			return err
		}
		if p.bytes > most.bytes {
			most = p
			u := p.utterance()
			r.report.say("memory: scoring %s (%.1f s) takes more than any training pass", u.ID, u.Duration)
		}
	}
	if err := r.replica.Prepare(nil, most.bytes); err != nil {
		return r.tooLarge(err, most)
	}
	r.sayMemory(most)
	return nil
}

// stretch is the windows that are still to come.
func (r *run) stretch() update.Span {
	p := r.ledger.state.Progress
	left := (r.cfg.Optimizer.NumEpochs-p.Epoch)*r.sets.loader.Windows() - p.Window
	if m := r.cfg.Optimizer.MaxUpdates; m > 0 {
		// Windows that give no update are not counted by max_updates: as many more may come as end a run.
		left = min(left, max(m-r.updater.Updates, 0)+mostSkips)
	}
	return update.Span{Epoch: p.Epoch, From: p.Window, Count: max(left, 0)}
}

// largest finds the pass that takes the most memory of all that a loader will bring.
func (r *run) largest(l *data.Loader, s update.Span, ask update.Ask) (peak, error) {
	runner := update.NewRunner(r.net, r.replica, r.cfg.Optimizer.BatchSize)
	met, bytes, err := runner.Largest(runner.Shapes(l, s, ask))
	return peak{met, bytes, l}, err
}

// utterance is the one that sets the peak: the longest of its micro-batch.
func (p peak) utterance() *data.Utterance { return p.loader.Window(p.Epoch, p.Window)[p.Row] }

// tooLarge explains that the largest pass does not fit: which utterance it is, and what max_duration would let the rest
// train.
func (r *run) tooLarge(err error, p peak) error {
	var oom *device.OutOfMemory
	if p.loader == nil || !errors.As(err, &oom) {
		return err
	}
	u := p.utterance()
	advice := "use a smaller network or fewer cpu_workers"
	if fits := r.longestThatFits(); fits > 0 {
		advice = fmt.Sprintf("leave it out: max_duration %.1f lets the rest train; or %s", fits, advice)
	}
	return fmt.Errorf("%s (%s, line %d) has %.1f s, and a pass over %s as long takes %s of memory for each worker: %w; %s",
		u.ID, u.File, u.Line, u.Duration, words.Count(p.Batch, "utterance"), megabytes(p.bytes), err, advice)
}

// longestThatFits is the duration, in seconds rounded down to tenths, up to which training utterances can be passed; 0
// where none can. It tries their lengths, the longest first, each alone in a pass.
func (r *run) longestThatFits() float64 {
	us := slices.Clone(r.sets.train.Utterances)
	slices.SortFunc(us, func(a, b *data.Utterance) int { return cmp.Compare(b.Frames, a.Frames) })
	runner := update.NewRunner(r.net, r.replica, 1)
	tried := 0
	for i, u := range us {
		if i > 0 && u.Frames == us[i-1].Frames {
			continue
		}
		if tried++; tried > 64 {
			return 0
		}
		bytes, err := runner.Alone(u.Frames, len(u.Tokens), update.Ask{Purpose: model.Training, Half: r.cfg.Run.FP16})
		if err == nil && r.replica.Prepare(nil, bytes) == nil {
			return float64(int(10*u.Duration)) / 10
		}
	}
	return 0
}

// sayMemory says what the buffers take, and by name what they leave out.
func (r *run) sayMemory(most peak) {
	u := r.replica.Usage()
	longest := slices.MaxFunc(r.sets.train.Utterances, func(a, b *data.Utterance) int { return cmp.Compare(a.Duration, b.Duration) })
	r.report.say("memory: %s of buffers: weights, gradients and moments %s, %s with %s each; longest utterance %s, %.1f s; "+
		"not counted: the program, compiled shapes, up to %s of decoded sound, windows read ahead",
		megabytes(u.Total()), megabytes(u.Weights+u.Gradients+u.Moments), words.Count(r.replica.Wishes().Workers, "worker"),
		megabytes(most.bytes), longest.ID, longest.Duration, megabytes(cacheWaves))
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

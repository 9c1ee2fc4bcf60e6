package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

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
// test, and says what the run takes in memory: what doesn't fit fails here, not after the first epoch. Which shapes
// come is known: lengths, order and dealing depend on manifest, seed and epoch alone.
func (r *run) planMemory() error {
	training, err := r.largestInTraining(r.sets.loader)
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
		}
	}
	if err := r.replica.Prepare(nil, most.bytes); err != nil {
		return r.tooLarge(err, most)
	}
	r.sayMemory(most)
	return nil
}

// largestInTraining is the largest pass of what is still to come of training with a loader.
func (r *run) largestInTraining(l *data.Loader) (peak, error) {
	return r.largest(l, r.stretch(l), update.Ask{Purpose: model.Training, Half: r.cfg.Run.FP16})
}

// stretch is the windows that are still to come.
func (r *run) stretch(l *data.Loader) update.Span {
	if r.ended() {
		return update.Span{}
	}
	p := r.ledger.state.Progress
	left := (r.cfg.Optimizer.NumEpochs-p.Epoch)*l.Windows() - p.Window
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

// tooLarge explains that the largest pass does not fit: which utterance it is, and what would let the rest through.
func (r *run) tooLarge(err error, p peak) error {
	var oom *device.OutOfMemory
	if !errors.As(err, &oom) {
		return err
	}
	u := p.utterance()
	advice := "use a smaller network or fewer cpu_workers"
	if p.loader != r.sets.loader {
		advice = "leave it out of its manifest, or " + advice
	} else if fits := r.longestThatFits(); fits > 0 {
		advice = fmt.Sprintf("leave it out: max_duration %.1f lets the rest train; or %s", fits, advice)
	}
	return fmt.Errorf("%s (%s, line %d) has %.1f s, and a pass over %s as long takes %s of memory for each worker: %w; %s",
		u.ID, u.File, u.Line, u.Duration, words.Count(p.Batch, "utterance"), megabytes(p.bytes), err, advice)
}

// longestThatFits is the largest max_duration, in tenths of a second, with which the training passes fit into memory; 0
// where there is none.
func (r *run) longestThatFits() float64 {
	var limits []float64
	for _, u := range r.sets.train.Utterances {
		if s := math.Ceil(10*u.Duration) / 10; s > r.cfg.Data.MinDuration {
			limits = append(limits, s)
		}
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	n := sort.Search(len(limits), func(i int) bool { return !r.fits(limits[i]) })
	if n == 0 {
		return 0
	}
	return limits[n-1]
}

// fits says whether the passes of a run with this max_duration fit into memory: its windows, and with them the shapes,
// are not those of a run with all utterances.
func (r *run) fits(maxDuration float64) bool {
	const rounding = 1e-6 // s, that package data leaves to a limit
	all := r.sets.train
	set := &data.Set{Path: all.Path, Report: all.Report, SampleRate: all.SampleRate}
	for _, u := range all.Utterances {
		if u.Duration <= maxDuration+rounding {
			set.Utterances = append(set.Utterances, u)
		}
	}
	loader, err := r.trainingLoader(set)
	if err != nil {
		return false
	}
	p, err := r.largestInTraining(loader)
	return err == nil && r.replica.Prepare(nil, p.bytes) == nil
}

// sayMemory says what the buffers take, and by name what they leave out.
func (r *run) sayMemory(most peak) {
	u := r.replica.Usage()
	if most.loader != r.sets.loader && !r.ended() {
		s := most.utterance()
		r.report.say("memory: scoring %s (%.1f s) takes more than any training pass", s.ID, s.Duration)
	}
	longest := slices.MaxFunc(r.sets.train.Utterances, func(a, b *data.Utterance) int { return cmp.Compare(a.Duration, b.Duration) })
	r.report.say("memory: %s of buffers: weights, gradients and moments %s, %s with %s each; longest utterance %s, %.1f s; "+
		"not counted: the program, compiled shapes, tables of constants, up to %s of decoded sound, windows read ahead",
		megabytes(u.Total()), megabytes(u.Weights+u.Gradients+u.Moments), words.Count(r.replica.Wishes().Workers, "worker"),
		megabytes(most.bytes), longest.ID, longest.Duration, megabytes(cacheWaves))
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

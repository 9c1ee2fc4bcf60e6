package train

import (
	"fmt"
	"math"
	"slices"

	"konkanitrain/data"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/rangetest"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// passes are what a run will send through the network: which shapes come is known, as lengths, order and dealing depend
// on manifest, seed, epoch and Fit alone.
type passes struct {
	training []update.Met
	most     peak
	longest  update.Variant // with the most frames, whose tables of constants are the largest
	wordiest update.Variant // with the most tokens
	left     []*leftOut     // utterances that don't fit
}

// peak is the pass that takes the most memory of those that go through a loader.
type peak struct {
	update.Met
	bytes  int64 // of each arena
	loader *data.Loader
}

// utterance is the one that sets the peak: the longest of its micro-batch.
func (p peak) utterance() *data.Utterance { return p.loader.Window(p.Epoch, p.Window)[p.Row] }

// leftOut is an utterance that doesn't fit even alone.
type leftOut struct {
	*data.Utterance
	training bool
	place    update.Left
	loader   *data.Loader
}

// listPasses lists all passes that are still to come, with the peak of each set and over all.
func (r *run) listPasses() (*passes, error) {
	p := &passes{}
	ask := update.Ask{Purpose: model.Training, Half: r.cfg.Run.FP16}
	var err error
	if p.training, err = r.list(p, r.sets.loader, r.stretch(r.sets.loader), ask); err != nil {
		return nil, err
	}
	for _, s := range []*scored{r.sets.val, r.sets.test} {
		if s == nil {
			continue
		}
		if _, err := r.list(p, s.loader, update.Span{Count: s.loader.Windows()}, update.Ask{Purpose: model.Scoring}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// list adds the passes over a stretch of what a loader gives.
func (r *run) list(p *passes, l *data.Loader, s update.Span, ask update.Ask) ([]update.Met, error) {
	runner := update.NewRunner(r.net, r.replica, r.cfg.Optimizer.BatchSize)
	runner.Fit, runner.Until = r.fit(), r.library.Until
	met, left, err := runner.Shapes(l, s, ask)
	if err != nil {
		return nil, err
	}
	most, bytes, err := runner.Largest(met)
	if err != nil {
		return nil, err
	}
	if bytes > p.most.bytes {
		p.most = peak{most, bytes, l}
	}
	for _, m := range met {
		if m.Frames > p.longest.Frames {
			p.longest = m.Variant
		}
		if m.Tokens > p.wordiest.Tokens && m.Purpose == model.Training {
			p.wordiest = m.Variant
		}
	}
	for _, at := range left {
		u := l.Window(at.Epoch, at.Window)[at.Row]
		if !slices.ContainsFunc(p.left, func(other *leftOut) bool { return other.loader == l && other.Index == u.Index }) {
			p.left = append(p.left, &leftOut{u, ask.Purpose == model.Training, at, l})
		}
	}
	return met, nil
}

// stretch is the windows that are still to come.
func (r *run) stretch(l *data.Loader) update.Span {
	if r.ended() {
		return update.Span{}
	}
	p := r.ledger.state.Progress
	left := (r.cfg.Optimizer.NumEpochs-p.Epoch)*l.Windows() - p.Window
	if r.finding != nil {
		return update.Span{Epoch: p.Epoch, From: p.Window, Count: rangetest.Updates + mostSkips}
	}
	if m := r.cfg.Optimizer.MaxUpdates; m > 0 {
		// Windows that give no update are not counted by max_updates: as many more may come as end a run.
		left = min(left, max(m-r.updater.Updates, 0)+mostSkips)
	}
	return update.Span{Epoch: p.Epoch, From: p.Window, Count: max(left, 0)}
}

// planMemory makes every worker's arena as large as the largest pass of the run needs, in training, validation and
// test, and says what the run takes in memory: what doesn't fit is fitted, or fails, here and not after the first
// epoch.
func (r *run) planMemory() error {
	whole, p, err := r.choosePasses()
	if err != nil {
		return err
	}
	for rung := 0; ; rung++ {
		if err := r.refuseLeft(p); err != nil {
			return err
		}
		r.replica.Shrink(p.most.bytes) // what costs were measured in may be larger
		err := r.replica.Prepare(nil, p.most.bytes)
		if err == nil {
			break
		}
		if !r.fit().Relieve(rung, err, p.most.bytes) {
			return r.misfit(err, p.most)
		}
		if p, err = r.listPasses(); err != nil {
			return err
		}
	}
	if err := r.hostFits(); err != nil {
		return err
	}
	if err := r.recordStep(p); err != nil {
		return err
	}
	if r.learn(); r.fit().Limit() > 0 {
		r.replica.Forget() // what was compiled to find its price only
	}
	r.largest = p.most.Variant
	r.sayLeft(p)
	if err := r.sayChoice(whole, p); err != nil {
		return err
	}
	r.sayMemory(p.most)
	return nil
}

// choosePasses lists what the run would send through the network with room for everything, and what it will, fitted to
// the memory there is.
func (r *run) choosePasses() (whole, p *passes, err error) {
	if whole, err = r.listPasses(); err != nil {
		return nil, nil, err
	}
	if err := r.prepareTables(whole); err != nil {
		return nil, nil, err
	}
	r.account(r.replica.MachineBytes())
	limit := r.startLimit(whole)
	if limit == 0 {
		return whole, whole, nil
	}
	if err := r.costs(whole.training); err != nil {
		return nil, nil, err
	}
	r.fit().SetLimit(limit)
	p, err = r.listPasses()
	if room := r.replica.Room(); err == nil && len(p.left) > 0 && limit < room {
		r.fit().SetLimit(room) // the margin, or what was learned once, is not worth an utterance
		p, err = r.listPasses()
	}
	return whole, p, err
}

// margin is what the first fit leaves of the room of an arena, in bytes, so that a resumed run, whose process may hold
// a little more, has room for the same.
func margin(room int64) int64 { return min(room/8, 2<<20) }

// startLimit is the limit of each arena to begin with, in bytes; 0 where there is room for everything. A limit that an
// earlier session has learned stays while it fits, so that windows are dealt as they were.
func (r *run) startLimit(p *passes) int64 {
	if !r.cfg.Run.AutoFit {
		return 0
	}
	room := r.replica.Room()
	if learned := r.learned(room); learned > 0 {
		return max(min(learned, room), 1)
	}
	if p.most.bytes <= room {
		return 0
	}
	if r.ledger.begun > 0 && r.ledger.state.Lessons.Arena == 0 {
		r.report.say("NOTE: there was room for everything when the checkpoint was written, and there isn't now: " +
			"micro-batches may be others, so the run is not bit for bit the uninterrupted one")
	}
	return max(room-margin(room), 1)
}

// prepareTables has the tables of constants made that the longest passes need, so that it is known what they take.
func (r *run) prepareTables(p *passes) error {
	for _, v := range []update.Variant{p.longest, p.wordiest} {
		if v.Frames > 0 {
			if err := r.replica.MakeTables(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// sayMemory says what the run holds, by name.
func (r *run) sayMemory(most peak) {
	u := r.replica.Usage()
	if most.loader != nil && most.loader != r.sets.loader && !r.ended() {
		s := most.utterance()
		r.report.say("memory: scoring %s (%.1f s) takes more than any training pass", s.ID, s.Duration)
	}
	longest := r.sets.train.At(r.sets.train.Longest())
	d := r.pool.Usage()
	limit := "no limit"
	if d.Limit > 0 {
		limit = fmt.Sprintf("a limit of %s (%s)", words.Bytes(d.Limit), r.limitFrom)
	}
	where, rest := "in all", fmt.Sprintf("%s with %s each%s", words.Count(r.replica.Wishes().Workers, "worker"), words.Bytes(most.bytes), r.heldText())
	if r.onCard() {
		where, rest = "on "+r.device.Name, fmt.Sprintf("activations %s, the driver's context about %s", words.Bytes(most.bytes), words.Bytes(r.device.Context()))
	}
	r.report.say("memory: %s %s, under %s: %s %s, %s; longest utterance %s, %.1f s",
		words.Bytes(d.Allocated+d.Held), where, limit, r.cfg.flatBuffers(), words.Bytes(u.Flat()), rest, longest.ID, longest.Duration)
	if r.onCard() {
		r.sayHostMemory()
	}
	r.sayPeak()
}

// flatBuffers are what a run holds in flat buffers, by name.
func (c Config) flatBuffers() string {
	if c.Tuning().Averages {
		return "weights, gradients, moments and averages"
	}
	return "weights, gradients and moments"
}

// sayPeak says that the process has held more than the limit for a while before training: the lists are read by then,
// and what that took has been given back.
func (r *run) sayPeak() {
	limit := r.host.Usage().Limit
	if _, peak := machine.Self(); limit > 0 && peak > limit && !r.buffersOnly {
		r.report.say("NOTICE: the process has held %s for a while, while it read the manifests and planned: more than the limit of %s, "+
			"under which training stays", words.Bytes(peak), words.Bytes(limit))
	}
}

// sayHostMemory says what a run on a card holds in the host's memory, by name.
func (r *run) sayHostMemory() {
	h := r.host.Usage()
	limit := "no limit"
	if h.Limit > 0 {
		limit = "a limit of " + words.Bytes(h.Limit)
	}
	r.report.say("memory: %s of this machine's, under %s: copies of weights and moments %s%s", words.Bytes(h.Allocated+h.Held), limit, words.Bytes(h.Allocated), r.heldText())
}

// hostFits is an error where what a run on a card holds on the host is too much for it. On a CPU there is no room for
// arenas then, which is said.
func (r *run) hostFits() error {
	over := r.host.Over()
	if !r.onCard() || over == 0 {
		return nil
	}
	u := r.host.Usage()
	return lacking(fmt.Errorf("beside %s the run holds %s of this machine's memory, of which it may have %s%s; use fewer num_workers, "+
		"snapshot_every 0, a smaller batch_size, or a machine with more memory", r.device.Name, words.Bytes(u.Reserved+u.Held), words.Bytes(u.Limit), r.heldText()))
}

// maxDurations are the values of max_duration that make a difference, in tenths of a second, rising.
func (r *run) maxDurations() []float64 {
	var limits []float64
	known := map[float64]bool{}
	for i := range r.sets.train.Len() {
		if s := math.Ceil(10*r.sets.train.Duration(i)) / 10; s > r.cfg.Data.MinDuration && !known[s] {
			known[s] = true
			limits = append(limits, s)
		}
	}
	slices.Sort(limits)
	return limits
}

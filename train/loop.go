package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// ErrInterrupted says that the run was stopped from outside, after it had saved its state.
var ErrInterrupted = errors.New("interrupted: the state is saved")

// ErrOutOfMemory says that the run was stopped for lack of memory, after it had saved what there was to save.
var ErrOutOfMemory = errors.New("out of memory")

// loop makes updates until the run has ended.
func (r *run) loop(ctx context.Context) error {
	if !r.cfg.Run.measuring() && r.overdue() {
		if err := r.milestones(ctx, r.ledger.state.Progress.Window == 0, true); err != nil {
			return err
		}
	}
	if r.ended() {
		r.meter.end(r)
		return nil
	}
	p := &r.ledger.state.Progress
	stream, err := r.sets.loader.Start(ctx, p.Epoch, p.Window)
	if err != nil {
		return err
	}
	defer stream.Close()
	if r.onCard() {
		r.updater.Next = func() []*data.Example { return examples(stream.Peek()) }
	}
	r.meter.start(stream)
	r.stage("Before Training")
	for !r.ended() {
		w, err := stream.Next()
		if ctx.Err() != nil {
			return r.interrupted() // w, if it came, is not used
		}
		if err != nil {
			return r.stopped(err)
		}
		if w.Index == 0 || r.first {
			r.stageOf("Epoch Start", fmt.Sprintf("Epoch %d Start", w.Epoch+1))
		}
		r.yield()
		out, err := r.window(w)
		w.Release()
		if err != nil {
			return r.stopped(err)
		}
		if r.first {
			r.stage("After First Step")
			r.first = false
		}
		r.batchStage(w.Epoch, w.Index)
		if r.hook != nil {
			r.hook(r.updater.Updates)
		}
		r.note()
		if r.onCard() {
			_ = r.host.Hold("copies to and from the card", r.replica.Usage().Pinned) // where it is too much, what comes next has less
		}
		before := time.Now()
		if out.Skipped == update.Made && r.due(r.cfg.Run.EvalEvery, w.Last, true) {
			r.board.gradients(r)
		}
		if w.Last {
			r.stageOf("Epoch End", fmt.Sprintf("Epoch %d End", w.Epoch+1))
		}
		if err := r.milestones(ctx, w.Last, out.Skipped == update.Made); err != nil {
			return err
		}
		if out.Skipped == update.Made {
			r.ledger.keep()
		}
		if err := r.copyState(); err != nil {
			return r.stopped(err)
		}
		if r.served != nil {
			r.served(r.updater.Updates)
		}
		r.serve()
		r.meter.leaveOut(time.Since(before)) // speeds are those of training
	}
	r.meter.end(r)
	return nil
}

// examples are those of a window, which may be nil.
func examples(w *data.Window) []*data.Example {
	if w == nil {
		return nil
	}
	return w.Examples
}

// window trains on one window and notes it in the state.
func (r *run) window(w *data.Window) (update.Outcome, error) {
	out, err := r.updater.Update(w.Examples)
	if r.finding != nil {
		err = r.finding.add(r, out, err)
	}
	if err != nil || r.finding != nil && r.finding.broken() {
		return out, err
	}
	p := &r.ledger.state.Progress
	r.ledger.trained(r.updater)
	p.Failed += int64(len(out.Unreadable))
	p.TooLarge += int64(len(out.TooLarge))
	p.Utterances += int64(out.Utterances)
	p.Infeasible += int64(out.Infeasible)
	r.nameUnreadable(r.sets.train)
	if err := r.skipped.note(r, w, out); err != nil {
		return out, err
	}
	p.Epoch, p.Window = w.Epoch, w.Index+1
	if w.Last {
		p.Epoch, p.Window = w.Epoch+1, 0
	}
	r.meter.add(r, out)
	r.ledger.state.Epoch.add(r, out, w.Last)
	if out.Skipped == update.Made {
		r.watch(out)
		r.ledger.keep()
	}
	if w.Last {
		if err := r.sets.train.TooManyBad(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// nameUnreadable says which files of a set have turned out to be unreadable, or without any sound, since
// the last time, each once in a run.
func (r *run) nameUnreadable(s *data.Set) {
	for _, n := range s.News() {
		r.report.say("WARNING: left out: %v", n)
	}
}

// stopped ends a run that can't go on because of err. What was learned is saved, at the place before the windows that
// led to the end, unless the weights are broken.
func (r *run) stopped(err error) error {
	if lost(err) {
		return err // what there is to save is not on the card
	}
	err = r.withoutMemory(err)
	var broken *engine.BrokenError
	if errors.As(err, &broken) && !r.cfg.Run.measuring() {
		return r.ledger.withNewest(err)
	}
	var diverged *update.DivergedError
	if r.cfg.Run.measuring() || errors.As(err, &diverged) || r.made() == 0 {
		return err
	}
	r.ledger.goBack()
	if r.ledger.standing != ahead {
		return err
	}
	if failed := r.ledger.save(false); failed != nil {
		return fmt.Errorf("%w\nwhat was learned until then is not saved: %w", err, failed)
	}
	return fmt.Errorf("%w\nwhat was learned until then is saved in %s; to go on from there: %s", err, r.ledger.newest, r.ledger.resumeCommand(""))
}

// mostSkips is the number of windows in a row without an update after which a run stops.
const mostSkips = 10

// skips watches over windows that give no update.
type skips struct {
	suspects []string // utterances of the last windows without an update
	whole    bool     // the epoch in hand began in this session
	made     int      // updates in it
	scaled   int      // windows of it that only the loss scale has cost
}

// note says why a window gave no update, and is an error where that happens too often: too many windows in a row, or an
// epoch without a single update.
func (s *skips) note(r *run, w *data.Window, out update.Outcome) error {
	if w.Index == 0 {
		*s = skips{suspects: s.suspects, whole: true}
	}
	p := &r.ledger.state.Progress
	if out.Skipped == update.Made {
		s.made++
		p.InARow = 0
		return nil
	}
	why, advice := r.explain(out)
	p.Skipped++
	if out.Skipped == update.NotFiniteGradient && r.cfg.Run.FP16 {
		s.scaled++
		r.report.say("window %d of epoch %d: no update: %s; the loss scale is %g now", w.Index+1, w.Epoch+1, why, r.updater.LossScale.Scale)
		return nil
	}
	p.InARow++
	r.report.say("WARNING: window %d of epoch %d: no update: %s", w.Index+1, w.Epoch+1, why)
	if p.InARow == 1 {
		s.suspects = nil
	}
	for _, e := range w.Examples {
		if !slices.Contains(s.suspects, e.Utt.ID) { // a small set comes round again
			s.suspects = append(s.suspects, e.Utt.ID)
		}
	}
	var err error
	switch named := words.List(s.suspects, 40); {
	case p.InARow >= mostSkips:
		err = fmt.Errorf("%d windows in a row gave no update, the last because %s; their utterances: %s; %s", p.InARow, why, named, advice)
	case w.Last && s.whole && s.made == 0 && s.scaled == 0:
		err = fmt.Errorf("epoch %d gave no update at all, the last window because %s; its utterances: %s; %s", w.Epoch+1, why, named, advice)
	}
	if err != nil && out.Skipped == update.NothingFits {
		err = lacking(err)
	}
	return err
}

// explain says why a window gave no update, and what to do.
func (r *run) explain(out update.Outcome) (why, advice string) {
	switch out.Skipped {
	case update.NothingReadable:
		return "none of its files can be read", "look at these files"
	case update.NothingFits:
		return "there is not enough memory for any of its utterances, even alone", r.moreMemory() + ", or set max_duration"
	case update.NothingFeasible:
		return "all of its utterances have more characters than encoder frames: CTC has nothing to learn from",
			"lower subsampling, or look at these files and their texts"
	}
	why, advice = "its gradient is not finite", "lower learning_rate, or look at these files and their texts"
	if len(out.NotFinite) > 0 {
		why = "the loss is not finite for " + words.List(out.NotFinite, 5)
	}
	return why, advice
}

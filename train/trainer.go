package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"konkanitrain/data"
)

// trainer is a run in progress.
type trainer struct {
	speech
	cfg       Config
	state     state
	source    *state // of the checkpoint that init_from names; nil: it names none, or a bare file
	optimizer *AdamW
	train     *data.Set
	loader    *data.Loader
	val       *data.Loader // nil without a validation set
	test      *data.Loader // nil without a test set
	report    *reporter
	metrics   *metrics

	pass     pass // reused by every update
	dealer   dealer
	suspects []string // utterances of the last windows without an update
	warned   map[string]bool
	last     string // path of the newest checkpoint
	saved    bool   // it holds the present state
	begun    int    // updates made before this session
	told     bool   // that training is finished
	started  time.Time
	earlier  float64     // seconds of training before this session
	best     string      // path of the best checkpoint
	tested   *Evaluation // of the test set

	sums  updateMetrics // since the last record
	since time.Time
	wait  time.Duration // for data, at the last record

	hook func(update int) // for tests: called after each update
}

// Result is what a run has come to.
type Result struct {
	Updates, Epochs int
	Last, Best      *Evaluation // of the validation set; nil without one
	Test            *Evaluation // nil without a test set
	Checkpoint      string      // path of the newest checkpoint
	BestCheckpoint  string      // path of the one with the best validation; "" without a validation set
}

// Run trains as cfg says, and shows how it goes on out. When ctx ends, the update in hand is finished and saved,
// and the error is ErrInterrupted.
func Run(ctx context.Context, cfg Config, out io.Writer) (*Result, error) {
	t, err := setUp(ctx, cfg, out)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.loop(ctx); err != nil {
		return t.result(), err
	}
	return t.result(), t.finish(ctx)
}

func (t *trainer) result() *Result {
	return &Result{
		Updates: t.optimizer.Updates, Epochs: t.state.Progress.Epoch, Last: t.state.Score, Best: t.state.Best, Test: t.tested,
		Checkpoint: t.last, BestCheckpoint: t.best,
	}
}

// total is the number of updates the run will have made at its end, if none is skipped.
func (t *trainer) total() int {
	n := t.cfg.Optimizer.NumEpochs * t.loader.Windows()
	if m := t.cfg.Optimizer.MaxUpdates; m > 0 {
		n = min(n, m)
	}
	if m := t.cfg.Run.ProfileSteps; m > 0 {
		n = min(n, t.begun+m)
	}
	return n
}

// end says why training ends here; "" if it goes on.
func (t *trainer) end() string {
	epochs, most, patience := t.cfg.Optimizer.NumEpochs, t.cfg.Optimizer.MaxUpdates, t.cfg.Run.EarlyStop
	switch {
	case t.state.Progress.Epoch >= epochs:
		return fmt.Sprintf("all epochs are done (num_epochs %d)", epochs)
	case most > 0 && t.optimizer.Updates >= most:
		return fmt.Sprintf("max_updates %d is reached", most)
	case patience > 0 && t.state.Stale >= patience:
		return fmt.Sprintf("no better score in %s in a row (early_stop %d)", count(t.state.Stale, "validation"), patience)
	}
	return ""
}

// ended says whether there is nothing more to train, or to measure.
func (t *trainer) ended() bool {
	return t.end() != "" || t.profiling() && t.made() >= t.cfg.Run.ProfileSteps
}

// made is the number of updates made in this session.
func (t *trainer) made() int { return t.optimizer.Updates - t.begun }

// loop makes updates until the run has ended.
func (t *trainer) loop(ctx context.Context) error {
	if !t.profiling() && t.overdue() {
		if err := t.milestones(ctx, t.state.Progress.Window == 0, true); err != nil {
			return err
		}
	}
	if t.ended() {
		return nil
	}
	p := &t.state.Progress
	run, err := t.loader.Run(ctx, p.Epoch, p.Window)
	if err != nil {
		return err
	}
	defer run.Close()
	t.since = time.Now()
	for !t.ended() {
		w, err := run.Next()
		if ctx.Err() != nil {
			return t.interrupted() // w, if it came, is not used
		}
		if err != nil {
			return err
		}
		t.saved = false
		out, err := t.update(w)
		if err != nil {
			return err
		}
		p.Epoch, p.Window = w.Epoch, w.Index+1
		if w.Last {
			p.Epoch, p.Window = w.Epoch+1, 0
		}
		w.Release()
		t.note(out, run)
		if t.hook != nil {
			t.hook(t.optimizer.Updates)
		}
		before := time.Now()
		if err := t.milestones(ctx, w.Last, out.skipped == ""); err != nil {
			return err
		}
		t.since = t.since.Add(time.Since(before)) // speeds are those of training
	}
	return nil
}

// overdue says that a run was interrupted before the validation of its last update.
func (t *trainer) overdue() bool {
	every, p := t.cfg.Run.EvalEvery, t.state.Progress
	return t.val != nil && t.optimizer.Updates > 0 && t.state.Judged != t.optimizer.Updates &&
		(every == 0 && p.Window == 0 || every > 0 && t.optimizer.Updates%every == 0)
}

// milestones validates, saves and cleans up where one of these is due.
func (t *trainer) milestones(ctx context.Context, epochDone, updated bool) error {
	due := func(every int) bool {
		return every == 0 && epochDone || every > 0 && updated && t.optimizer.Updates%every == 0
	}
	r := t.cfg.Run
	if t.profiling() {
		return nil
	}
	better := false
	if t.val != nil && due(r.EvalEvery) && t.state.Judged != t.optimizer.Updates {
		if err := t.validate(ctx); err != nil {
			if ctx.Err() != nil {
				return t.interrupted() // a resumed run begins with this validation
			}
			return err
		}
		better = t.state.BestStep == t.optimizer.Updates
	}
	if due(r.SaveEvery) || better {
		if err := t.save(due(r.SaveEvery)); err != nil {
			return err
		}
	}
	if r.CacheClearEvery > 0 && updated && t.optimizer.Updates%r.CacheClearEvery == 0 {
		debug.FreeOSMemory()
	}
	return nil
}

// interrupted saves what there is; of a profile it shows what there is.
func (t *trainer) interrupted() error {
	if t.profiling() {
		return errors.Join(t.printProfile(), context.Canceled)
	}
	if p := t.state.Progress; t.optimizer.Updates == 0 && p.Epoch == 0 && p.Window == 0 {
		return context.Canceled // nothing is done yet, so there is nothing to save
	}
	if err := t.save(false); err != nil {
		return fmt.Errorf("interrupted, and the state is not saved: %w", err)
	}
	return ErrInterrupted
}

// validate scores the validation set and keeps the best score.
func (t *trainer) validate(ctx context.Context) error {
	e, err := t.evaluate(ctx, t.val, t.cfg.Optimizer.BatchSize, nil)
	t.warn(t.val)
	if err != nil {
		return err
	}
	t.state.Score, t.state.Judged, t.saved = e, t.optimizer.Updates, false
	mark := ""
	switch {
	case e.deaf():
		mark = "  (not counted: none of the files can be read)"
	case e.better(t.state.Best):
		t.state.Best, t.state.BestStep, t.state.Stale = e, t.optimizer.Updates, 0
		mark = "  (best so far)"
	default:
		t.state.Stale++
	}
	t.report.say("validation after update %d: %v%s", t.optimizer.Updates, e, mark)
	t.sayTroubles(e, t.cfg.Data.ValManifest)
	t.record("validation", struct {
		Update int `json:"update"`
		*Evaluation
	}{t.optimizer.Updates, e})
	return nil
}

// sayTroubles says what is wrong with a validation, if anything.
func (t *trainer) sayTroubles(e *Evaluation, set string) {
	for _, trouble := range append(e.troubles(set), t.blankAlarm(e)...) {
		t.report.say("%s", trouble)
	}
}

// note adds a window to the running figures, and at the logging interval shows and writes them.
func (t *trainer) note(out outcome, run *data.Run) {
	s := &t.sums
	s.Loss += out.loss
	s.CTC += out.ctc
	s.CE += out.ce
	if out.skipped == "" {
		s.Utterances += out.utterances
		s.GradNorm = out.norm
	}
	s.Audio += out.audio
	s.Infeasible += out.infeasible
	n := t.optimizer.Updates
	if out.skipped != "" || n%t.cfg.Run.LogEvery != 0 && !t.ended() {
		t.report.update(n, nil)
		return
	}
	now := time.Now()
	m := *s
	m.Seconds = now.Sub(t.since).Seconds()
	m.WaitShare = (run.Waited() - t.wait).Seconds() / max(m.Seconds, 1e-9)
	t.since, t.wait, *s = now, run.Waited(), updateMetrics{}
	each := 1 / max(float64(m.Utterances), 1)
	m.Loss, m.CTC, m.CE = m.Loss*each, m.CTC*each, m.CE*each
	m.Update, m.Epoch, m.LearningRate, m.Skipped = n, t.state.Progress.Epoch+1, t.optimizer.LR, t.state.Progress.Skipped
	if t.state.Progress.Window == 0 {
		m.Epoch--
	}
	if t.cfg.Run.FP16 {
		m.LossScale = t.state.LossScale.Scale
	}
	t.report.update(n, &m)
	t.warn(t.loader)
	t.record("update", m)
}

// warn says what was odd in the files that a loader has read; what two sets share is said once.
func (t *trainer) warn(l *data.Loader) {
	for _, w := range l.Warnings() {
		if !t.warned[w] {
			t.warned[w] = true
			t.report.say("WARNING: %s", w)
		}
	}
}

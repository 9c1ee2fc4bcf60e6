package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/internal/scores"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// overdue says that a run was interrupted before the validation of its last update.
func (r *run) overdue() bool {
	every, s, n := r.cfg.Run.EvalEvery, &r.ledger.state, r.updater.Updates
	return r.sets.val != nil && n > 0 && s.Judged != n && (every == 0 && s.Progress.Window == 0 || every > 0 && n%every == 0)
}

// due says whether something is due that is to be done every so many updates, or where every is 0 after each epoch:
// behind the window at hand, which gave an update or didn't.
func (r *run) due(every int, epochDone, updated bool) bool {
	return every == 0 && epochDone || every > 0 && updated && r.updater.Updates%every == 0
}

// milestones validates, saves and cleans up where one of these is due.
func (r *run) milestones(ctx context.Context, epochDone, updated bool) error {
	n := r.updater.Updates
	due := func(every int) bool { return r.due(every, epochDone, updated) }
	if r.cfg.Run.measuring() {
		return nil
	}
	better := false
	if r.sets.val != nil && due(r.cfg.Run.EvalEvery) && r.ledger.state.Judged != n {
		if err := r.validate(ctx); err != nil {
			if ctx.Err() != nil {
				return r.interrupted() // a resumed run begins with this validation
			}
			return r.stopped(err)
		}
		better = r.ledger.state.BestStep == n
	}
	if due(r.cfg.Run.SaveEvery) || better {
		r.replica.Trim()
		r.stage("Before Save")
		if err := r.ledger.save(due(r.cfg.Run.SaveEvery)); err != nil {
			return err
		}
		r.replica.Trim()
		r.stage("After Save")
	}
	if every := r.cfg.Run.CacheClearEvery; every > 0 && (epochDone || updated && n%every == 0) {
		r.clearCache()
	}
	return nil
}

// interrupted saves what there is; what was measured is shown as far as it is.
func (r *run) interrupted() error {
	if r.cfg.Run.measuring() {
		return errors.Join(r.showMeasured(), context.Canceled)
	}
	if r.ledger.standing == fresh {
		return context.Canceled // nothing is done yet, so there is nothing to save
	}
	if err := r.ledger.save(false); lost(err) {
		return err
	} else if err != nil {
		return fmt.Errorf("interrupted, and the state is not saved: %w", err)
	}
	return r.saidInterrupted()
}

// saidInterrupted is ErrInterrupted with the command that goes on.
func (r *run) saidInterrupted() error {
	return fmt.Errorf("%w; go on with: %s", ErrInterrupted, r.ledger.resumeCommand(""))
}

// score scores a set with the weights in memory, or with their moving averages where there are any, and names files
// that can't be read any more. Each of each gets what was made of each utterance; a nil one wants nothing.
func (r *run) score(ctx context.Context, s *scored, each ...func(recognize.Hypothesis) error) (e *recognize.Evaluation, err error) {
	if r.ledger.memory.averages {
		if err := r.replica.ExchangeAverages(); err != nil {
			return nil, err
		}
		defer func() {
			if back := r.replica.ExchangeAverages(); back != nil {
				e, err = nil, errors.Join(err, back)
			}
		}()
	}
	e, err = r.judge.Score(ctx, s.loader, toAll(each))
	r.warn(s.loader)
	return e, err
}

// scoreValidation scores the validation set, and calibrates the confidences of the words with it.
func (r *run) scoreValidation(ctx context.Context, each ...func(recognize.Hypothesis) error) (*recognize.Evaluation, error) {
	var judge recognize.Judge
	e, err := r.score(ctx, r.sets.val, append(each, func(h recognize.Hypothesis) error {
		judge.Add(h)
		return nil
	})...)
	if err == nil {
		e.Confidences = judge.Confidences()
	}
	return e, err
}

// toAll hands on what was made of each utterance; nil where nobody wants it.
func toAll(each []func(recognize.Hypothesis) error) func(recognize.Hypothesis) error {
	each = slices.DeleteFunc(each, func(f func(recognize.Hypothesis) error) bool { return f == nil })
	if len(each) == 0 {
		return nil
	}
	return func(h recognize.Hypothesis) error {
		for _, f := range each {
			if err := f(h); err != nil {
				return err
			}
		}
		return nil
	}
}

// scores says what is scored in place of the weights; "" where these are.
func (r *run) scores() string {
	if r.ledger.memory.averages {
		return "moving averages"
	}
	return ""
}

// ofAverages is what stands behind a score that is one of moving averages, in parentheses.
func (r *run) ofAverages() string {
	if what := r.scores(); what != "" {
		return " (" + what + ")"
	}
	return ""
}

// validate scores the validation set and keeps the best score.
func (r *run) validate(ctx context.Context) error {
	r.replica.Trim()
	r.stage("Before Validation")
	worst := scores.NewSummary(r.cfg.Run.WorstUtterances)
	e, err := r.scoreValidation(ctx, summarize(worst), r.board.sample())
	if err != nil {
		return err
	}
	r.replica.Trim()
	r.stage("After Validation")
	mark := r.ledger.judge(e)
	r.report.say("validation after update %d%s: %v%s", r.updater.Updates, r.ofAverages(), e, mark)
	r.sayTroubles(e, &r.ledger.state.Blanks)
	odd, _ := r.judgeBlanks(e)
	r.record("validation", struct {
		Update  int    `json:"update"`
		Weights string `json:"weights,omitempty"`
		Best    bool   `json:"best,omitempty"` // so far, by best_by
		Blanks  blanks `json:"odd_blanks,omitempty"`
		*recognize.Evaluation
	}{r.updater.Updates, r.scores(), r.ledger.state.Best == e, odd, e})
	r.board.samples(r)
	return r.recordWorst(worst)
}

// sayTroubles says what is wrong with a validation, if anything; what the one before had too is not said again. said is
// what was said last of its blanks.
func (r *run) sayTroubles(e *recognize.Evaluation, said *blanks) {
	for _, trouble := range e.Troubles(r.sets.val.manifest) {
		r.report.sayOnce(trouble)
	}
	r.sayBlanks(e, said)
}

// finish validates and saves what the last update made, and scores the test set with the averaged weights or the best.
func (r *run) finish(ctx context.Context) error {
	r.report.close()
	if r.cfg.Run.measuring() {
		return r.showMeasured()
	}
	if !r.ledger.finished {
		r.report.say("training has ended: %s", r.ledger.end())
	}
	r.stage("Training Ended")
	r.sayUnreadable()
	if r.sets.val != nil && r.ledger.state.Judged != r.updater.Updates {
		before := r.ledger.state.judgment
		if err := r.validate(ctx); err != nil {
			if ctx.Err() != nil {
				return r.interrupted()
			}
			return r.stopped(err)
		}
		r.ledger.state.Before = &before
	}
	r.stage("Before Final Save")
	if err := r.ledger.save(false); err != nil {
		return err
	}
	r.stage("After Final Save")
	which, err := r.finalWeights(ctx)
	r.stage("Final Weights Loaded")
	if err != nil || r.sets.test == nil {
		return err
	}
	r.stage("Before Test")
	e, err := r.score(ctx, r.sets.test)
	r.stage("After Test")
	if err != nil {
		if ctx.Err() != nil {
			return r.saidInterrupted() // all is saved but the test set's score
		}
		return r.withoutMemory(err)
	}
	r.tested = e
	r.report.say("test set %s, %s: %v", r.sets.test.manifest, which, e)
	for _, trouble := range e.Troubles(r.sets.test.manifest) {
		r.report.sayOnce(trouble)
	}
	r.record("test", struct {
		Weights string `json:"weights"`
		*recognize.Evaluation
	}{which, e})
	return nil
}

// sayUnreadable counts at the end of training what was left out of it because it can't be read or is silent.
func (r *run) sayUnreadable() {
	if n := r.ledger.state.Progress.TooLarge; n > 0 {
		r.report.say("WARNING: %s not trained on for lack of memory, counted in each epoch; they are named above or in an earlier session", words.Count(int(n), "utterance"))
	}
	o := r.sets.train.Outcome()
	mute := o.CountOf(data.Silent, true)
	if lost := r.sets.train.Len() - o.Kept - mute; lost > 0 {
		r.report.say("WARNING: %s of %d could not be read and took no part in training; they are named above or in an earlier session",
			words.Count(lost, "utterance"), r.sets.train.Len())
	}
	if mute > 0 {
		r.report.say("WARNING: %s of %d without any sound took no part in training; they are named above or in an earlier session",
			words.Count(mute, "utterance"), r.sets.train.Len())
	}
}

// finalWeights takes the weights that the run ends with into memory, and says which they are.
func (r *run) finalWeights(ctx context.Context) (which string, err error) {
	if n := r.cfg.Run.AverageLast; n > 0 {
		if _, err := checkpoint.Open(r.ledger.best); err == nil {
			r.report.say("best checkpoint: %s", r.ledger.best)
		}
		return "averaged weights", r.average(ctx, n)
	}
	if err := r.ledger.dropAverage(); err != nil {
		return "", err
	}
	if err := r.ledger.loadBest(); err != nil {
		return "", err
	}
	which, score := "best weights"+r.ofAverages(), r.ledger.state.Best
	if r.ledger.best == "" {
		which, score = "newest weights"+r.ofAverages(), r.ledger.state.Score
	}
	r.sayConfidences(which, score)
	return which, nil
}

// sayConfidences says what becomes of confidences with the weights that the run ends with, whose validation is given.
func (r *run) sayConfidences(which string, e *recognize.Evaluation) {
	if r.sets.val == nil || e == nil {
		return
	}
	c := e.Confidences
	if c == nil { // it was made before validations calibrated
		c = &recognize.Confidences{Why: "the validation of these weights did not measure them; eval --save_decoding calibrates them"}
	}
	r.report.say("confidences of words, %s: %v", which, c)
}

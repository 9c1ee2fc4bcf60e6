package train

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// stoppedAt makes updates until something stops the run, which must save the state after update want, and returns the
// error.
func stoppedAt(t *testing.T, r *run, want int) error {
	t.Helper()
	err := r.loop(t.Context())
	if err == nil {
		err = r.finish(t.Context())
	}
	r.close()
	testkit.MustFail(t, err, "what was learned until then is saved in "+r.ledger.newest+"; to go on from there: konkanitrain --checkpoint_dir "+r.ledger.dir+" --resume auto")
	if c, _, _ := checkpoint.Latest(r.ledger.dir); c == nil || c.Path != r.ledger.newest || want >= 0 && c.Step != want {
		t.Fatalf("the newest checkpoint is %+v, want that of update %d", c, want)
	}
	return err
}

// Sound that goes away in the middle of a run stops it; what was learned is saved as it was before the first window
// that could not be read. When the sound is back, the run goes on as if nothing had happened, bit for bit.
func TestSoundGone(t *testing.T) {
	straight := tiny(t, speak(t, babble(24, 3, 1)...))
	// Windows of one utterance, as one that is read in part makes an update with the rest.
	straight.Optimizer.BatchSize, straight.Optimizer.GradAccum, straight.Optimizer.MaxUpdates = 1, 1, 26
	traced(t, straight, io.Discard)
	cfg := elsewhere(t, straight)
	r := start(t, cfg, nil)
	var back func()
	r.hook = atUpdate(2, func() { back = hide(t, cfg.Data.TrainManifest[0]) })
	err := stoppedAt(t, r, -1)
	testkit.MustContain(t, err.Error(), "10 windows in a row gave no update, the last because none of its files can be read; their utterances: utt",
		"; look at these files")
	if n := r.updater.Updates; n < 2 || n > 8 { // some windows were read ahead
		t.Errorf("it stopped after update %d", n)
	}
	back()
	traced(t, withResume(cfg), io.Discard)
	mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 26)
}

// So it is when the loss scale collapses: the scale that goes on is that of the last good update.
func TestLossScaleCollapses(t *testing.T) {
	straight := tiny(t, speak(t, babble(8, 3, 1)...))
	straight.Run.FP16, straight.Run.SaveEvery, straight.Optimizer.MaxUpdates = true, 50, 6
	traced(t, straight, io.Discard)
	cfg := elsewhere(t, straight)
	r := start(t, cfg, nil)
	f := intercept(r)
	r.hook = atUpdate(3, func() { f.overflow = true })
	testkit.MustContain(t, stoppedAt(t, r, 3).Error(), "the gradient overflows even at a loss scale of 0.125")
	_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 3)
	if s.LossScale.Scale != 65536 || s.LossScale.Good != 3 || s.LossScale.Low != 0 || s.Progress.Skipped != 0 {
		t.Errorf("saved are %+v, %+v", s.LossScale, s.Progress)
	}
	traced(t, withResume(cfg), io.Discard)
	mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 6)
}

// What came due while no update was made, at the end of an epoch, is forgotten with these windows: validations count
// for early_stop and for the best, saves for the average.
func TestStoppedAfterMilestones(t *testing.T) {
	straight := tiny(t, speak(t, babble(12, 3, 1)...)) // epochs of three windows
	straight.Data.ValManifest, straight.Optimizer.LearningRate, straight.Optimizer.WarmupUpdates = []string{speak(t, babble(4, 3, 2)...)}, 3e-2, 1
	straight.Run.FP16, straight.Run.EarlyStop, straight.Run.AverageLast, straight.Run.KeepLast = true, 5, 2, 9
	straight.Optimizer.MaxUpdates = 9
	traced(t, straight, io.Discard)
	for _, at := range []int{3, 4} { // the end of an epoch, whose milestones stay, and the middle of one
		cfg := elsewhere(t, straight)
		r := start(t, cfg, nil)
		f := intercept(r)
		r.hook = atUpdate(at, func() { f.overflow = true })
		testkit.MustContain(t, stoppedAt(t, r, at).Error(), "the gradient overflows even at a loss scale")
		traced(t, withResume(cfg), io.Discard)
		mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 9)
		mustEqualRun(t, r.ledger.averagedDir(), filepath.Join(straight.Run.CheckpointDir, recognize.AveragedDir), 9)
	}
}

// So it is when the replica breaks: in an update, in a validation, and in the last validation.
func TestReplicaBreaks(t *testing.T) {
	manifest, val := speak(t, babble(8, 3, 1)...), speak(t, babble(3, 3, 2)...)
	broken := errors.New("worker 0 broke down")
	for name, c := range map[string]struct {
		evalEvery, at, want int
		fail                func(f *frail)
	}{
		"passes":                 {100, 3, 3, func(f *frail) { f.run = broken }},
		"memory":                 {100, 3, 3, func(f *frail) { f.prepare = broken }},
		"sums":                   {100, 3, 3, func(f *frail) { f.reduce = broken }},
		"in a validation":        {3, 3, 3, func(f *frail) { f.run = broken }},
		"in the last validation": {100, 5, 5, func(f *frail) { f.run = broken }},
	} {
		t.Run(name, func(t *testing.T) {
			straight := small(tiny(t, manifest))
			straight.Data.ValManifest, straight.Run.SaveEvery, straight.Optimizer.MaxUpdates = []string{val}, 100, 5
			straight.Run.EvalEvery = c.evalEvery
			traced(t, straight, io.Discard)
			cfg := elsewhere(t, straight)
			r := start(t, cfg, nil)
			f := intercept(r)
			r.hook = atUpdate(c.at, func() { c.fail(f) })
			if err := stoppedAt(t, r, c.want); !errors.Is(err, broken) {
				t.Errorf("stopped by %v", err)
			}
			traced(t, withResume(cfg), io.Discard)
			mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 5)
		})
	}
}

// An update that ends in its middle leaves weights that are no update's: nothing is saved, and the error says where the
// run can go on from. The run that goes on is the straight one.
func TestUpdateEndsInItsMiddle(t *testing.T) {
	straight := small(tiny(t, speak(t, babble(8, 3, 1)...)))
	straight.Run.SaveEvery, straight.Optimizer.MaxUpdates = 2, 5
	traced(t, straight, io.Discard)
	cause := &engine.BrokenError{Err: errors.New("worker 0 broke down")}
	stop := func(cfg Config, at int, says string) {
		t.Helper()
		r := start(t, cfg, nil)
		f := intercept(r)
		if at == 0 {
			f.update = cause
		}
		r.hook = atUpdate(at, func() { f.update = cause })
		err := r.loop(t.Context())
		r.close()
		testkit.MustFail(t, err, "a change of all weights ended in its middle", "worker 0 broke down", says)
		if !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	}
	cfg := elsewhere(t, straight)
	stop(cfg, 1, "there is no checkpoint yet: begin anew")
	mustHave(t, cfg.Run.CheckpointDir)
	stop(cfg, 3, "nothing after the last checkpoint, "+filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))+
		", is saved; to go on from there: konkanitrain --checkpoint_dir "+cfg.Run.CheckpointDir+" --resume auto")
	mustHave(t, cfg.Run.CheckpointDir, 2)
	fork := elsewhere(t, cfg)
	fork.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	stop(fork, 0, "konkanitrain --checkpoint_dir "+fork.Run.CheckpointDir+" --resume "+fork.Run.Resume)
	mustHave(t, fork.Run.CheckpointDir)
	traced(t, withResume(cfg), io.Discard)
	mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 5)
}

// Where nothing was learned since the newest checkpoint, or in a profile, nothing is saved by a run that is stopped.
func TestStoppedWithoutASave(t *testing.T) {
	manifest := speak(t, babble(8, 3, 1)...)
	broken := errors.New("worker 0 broke down")
	stop := func(cfg Config, at int) *run {
		t.Helper()
		r := start(t, cfg, nil)
		f := intercept(r)
		if at == 0 {
			f.run = broken
		}
		r.hook = func(update int) {
			if r.made() == at {
				f.run = broken
			}
		}
		if err := r.loop(t.Context()); err == nil || err.Error() != broken.Error() {
			t.Errorf("the error is %v, want %v and nothing else", err, broken)
		}
		r.close()
		return r
	}
	cfg := small(tiny(t, manifest))
	cfg.Run.SaveEvery = 2
	stop(cfg, 0)
	mustHave(t, cfg.Run.CheckpointDir)
	stop(cfg, 2) // all is saved
	mustHave(t, cfg.Run.CheckpointDir, 2)
	stop(withResume(cfg), 0)
	mustHave(t, cfg.Run.CheckpointDir, 2)
	profile := withResume(cfg)
	profile.Run.ProfileSteps = 5
	stop(profile, 1)
	mustHave(t, cfg.Run.CheckpointDir, 2)

	// Windows that gave no update leave nothing to save in a session without one, and don't move the place of the others.
	r := start(t, withResume(cfg), nil)
	w := windows(t, r, 1)[0]
	w.Examples[0] = allNaN(w.Examples[0])
	if _, err := r.window(w); err != nil {
		t.Fatal(err)
	}
	if err := r.stopped(broken); err != broken {
		t.Errorf("without an update in the session: %v", err)
	}
}

// Where the save fails as well, both are said.
func TestStoppedAndNotSaved(t *testing.T) {
	r := start(t, small(tiny(t, speak(t, babble(8, 3, 1)...))), nil)
	f := intercept(r)
	broken, full := errors.New("worker 0 broke down"), errors.New("disk full")
	r.hook = atUpdate(1, func() { f.run, f.export = broken, full })
	err := r.loop(t.Context())
	if !errors.Is(err, broken) || !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	testkit.MustFail(t, err, "what was learned until then is not saved: ")
	mustHave(t, r.ledger.dir)
}

// A run that can't save when it should, ends: in the middle, at its end, and when it is interrupted.
func TestSaveFails(t *testing.T) {
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		saveEvery int
		interrupt bool
		want      string
	}{"in the middle": {2, false, "disk full"}, "at the end": {100, false, "disk full"}, "interrupted": {100, true, "interrupted, and the state is not saved: "}} {
		cfg := small(tiny(t, speak(t, babble(8, 3, 1)...)))
		cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = c.saveEvery, 4
		r := start(t, cfg, nil)
		f := intercept(r)
		f.export = full
		ctx, stop := context.WithCancel(t.Context())
		r.hook = func(int) {
			if c.interrupt {
				stop()
			}
		}
		err := r.loop(ctx)
		if err == nil {
			err = r.finish(ctx)
		}
		stop()
		if !errors.Is(err, full) || c.saveEvery == 2 && r.updater.Updates != 2 {
			t.Errorf("%s: %v after update %d", name, err, r.updater.Updates)
		}
		testkit.MustFail(t, err, c.want)
		mustHave(t, r.ledger.dir)
		r.close()
	}
}

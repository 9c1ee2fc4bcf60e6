package train

import (
	"context"
	"errors"
	"testing"

	"konkanitrain/checkpoint"
)

// Before the first update there is nothing to save, and a run that is stopped then leaves no checkpoint behind.
func TestInterruptedBeforeTheFirstUpdate(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	ctx, stop := context.WithCancel(t.Context())
	run := start(t, cfg, nil)
	stop()
	if err := run.loop(ctx); err != context.Canceled {
		t.Errorf("the run ended with %v", err)
	}
	if list, err := checkpoint.List(cfg.Run.CheckpointDir); err != nil || len(list) > 0 {
		t.Errorf("%v are saved, %v", list, err)
	}
}

// stopBetween is a context that ends right after the next look at it, once it is armed.
type stopBetween struct {
	context.Context
	stop  func()
	armed bool
}

func (c *stopBetween) Err() error {
	err := c.Context.Err()
	if c.armed {
		c.stop()
	}
	return err
}

// A stop that comes when the loop has its next window in hand: that window is trained on, and saved.
func TestInterruptedDuringAnUpdate(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	between := &stopBetween{Context: ctx, stop: stop}
	run := start(t, cfg, nil)
	run.hook = func(update int) { between.armed = update == 3 }
	if err := run.loop(between); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("the run ended with %v, want ErrInterrupted", err)
	}
	if c, _, _ := checkpoint.Latest(cfg.Run.CheckpointDir); c == nil || c.Step != 4 || run.updater.Updates != 4 {
		t.Errorf("the last checkpoint is %+v, want that of update 4", c)
	}
}

// A stop at the validation that only the end brings about saves, and the next session makes that validation.
func TestInterruptedAtTheEnd(t *testing.T) {
	straight := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	straight.Data.ValManifest, straight.Run.EvalEvery, straight.Run.SaveEvery, straight.Optimizer.MaxUpdates = straight.Data.TrainManifest, 100, 100, 3
	mustRun(t, straight)
	cfg := elsewhere(t, straight)
	ctx, stop := context.WithCancel(t.Context())
	r := start(t, cfg, nil)
	r.hook = atUpdate(3, stop)
	if err := r.loop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.finish(ctx); !errors.Is(err, ErrInterrupted) {
		t.Errorf("%v", err)
	}
	r.close()
	if _, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 3); s.Judged != 0 {
		t.Errorf("judged at %d", s.Judged)
	}
	mustRun(t, withResume(cfg))
	mustEqualRun(t, cfg.Run.CheckpointDir, straight.Run.CheckpointDir, 3)
}

// A validation that an interruption has left over and that fails when the run goes on ends it.
func TestOverdueValidationFails(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, 3, 3
	ctx, stop := context.WithCancel(t.Context())
	r := start(t, cfg, nil)
	r.hook = atUpdate(3, stop)
	if err := r.loop(ctx); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	r.close()
	r = start(t, withResume(cfg), nil)
	f := intercept(r)
	f.run = errors.New("worker 0 broke down")
	if err := r.loop(t.Context()); err != f.run {
		t.Errorf("%v", err)
	}
}

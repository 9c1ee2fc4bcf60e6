package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
)

// A run says why it ended, and one that is resumed after its end says that there is nothing left to train.
func TestWhyARunEnds(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	for name, c := range map[string]struct {
		change func(c *Config)
		why    string
	}{
		"epochs":  {func(c *Config) { c.Optimizer.NumEpochs = 1 }, "all epochs are done (num_epochs 1)"},
		"updates": {func(c *Config) { c.Optimizer.MaxUpdates = 3 }, "max_updates 3 is reached"},
		"early stop": {func(c *Config) {
			c.Data.ValManifest, c.Run.EvalEvery, c.Run.EarlyStop, c.Optimizer.LearningRate = manifest, 1, 2, 1e-30
		}, "no better score in 2 validations in a row (early_stop 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := plain(tiny(t, manifest))
			c.change(&cfg)
			var said bytes.Buffer
			first, err := Run(t.Context(), cfg, &said)
			if err != nil {
				t.Fatal(err)
			}
			mustContainOnce(t, said.String(), "training has ended: "+c.why)
			cfg.Run.Resume = "auto"
			said.Reset()
			again, err := Run(t.Context(), cfg, &said)
			if err != nil || again.Updates != first.Updates {
				t.Fatalf("%+v after %+v (%v)", again, first, err)
			}
			mustContainOnce(t, said.String(), fmt.Sprintf("%d updates done, and training is finished: %s", first.Updates, c.why))
			if strings.Contains(said.String(), "window") || strings.Contains(said.String(), "has ended") {
				t.Errorf("there is nothing to go on with:\n%s", said.String())
			}
		})
	}
}

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
	if err := run.loop(between); err != ErrInterrupted {
		t.Fatalf("the run ended with %v, want ErrInterrupted", err)
	}
	if c, _, _ := checkpoint.Latest(cfg.Run.CheckpointDir); c == nil || c.Step != 4 || run.optimizer.Updates != 4 {
		t.Errorf("the last checkpoint is %+v, want that of update 4", c)
	}
}

// Utterances that a faster speed makes too short for CTC are in the progress line, where there are any.
func TestProgressShowsInfeasible(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, spoken{id: "a", text: letters}, spoken{id: "b", text: "abababab", samples: 30 * 160})))
	cfg.Data.SpeedPerturb, cfg.Data.Speeds = true, []float64{1.2}
	cfg.Optimizer.MaxUpdates = 1
	if _, err := Run(t.Context(), cfg, &said); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "%  1 too short for CTC")
	r := newReporter(&said, 1, 0)
	said.Reset()
	r.update(1, &updateMetrics{})
	if strings.Contains(said.String(), "CTC") {
		t.Errorf("there are none: %s", said.String())
	}
}

// A profile counts the updates of its own session, shows what it has when the run ends or is stopped before, and
// leaves nothing behind.
func TestProfileOfAShortRun(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.ProfileSteps, cfg.Optimizer.NumEpochs = 50, 1
	nothing := func() {
		t.Helper()
		if entries, err := os.ReadDir(cfg.Run.CheckpointDir); err == nil && len(entries) > 0 {
			t.Errorf("it left %v", entries)
		}
	}
	var said bytes.Buffer
	if _, err := Run(t.Context(), cfg, &said); err != nil {
		t.Fatal(err)
	}
	mustContain(t, said.String(), "profile: 2 of 50 updates were made: all epochs are done", "attention", "linear")
	nothing()

	said.Reset()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cfg.Optimizer.NumEpochs = 100
	run := start(t, cfg, &said)
	run.hook = func(update int) {
		if update == 3 {
			stop()
		}
	}
	if err := run.loop(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrInterrupted) {
		t.Errorf("stopped: %v, want a plain stop without a word of a saved state", err)
	}
	mustContain(t, said.String(), "profile: 3 of 50 updates were made: interrupted", "attention")
	nothing()

	cfg = once(t, plain(tiny(t, speak(t, babble(8, 4, 1)...))))
	cfg.Run.ProfileSteps, cfg.Optimizer.MaxUpdates = 2, 0
	said.Reset()
	r, err := Run(t.Context(), cfg, &said)
	if err != nil || r.Updates != 4 {
		t.Fatalf("%+v, %v: want 2 updates after the first 2", r, err)
	}
	mustContain(t, said.String(), "attention")
	if strings.Contains(said.String(), "were made") {
		t.Errorf("it is complete:\n%s", said.String())
	}
	if entries, _ := checkpoint.List(cfg.Run.CheckpointDir); len(entries) != 2 {
		t.Errorf("it changed the checkpoints: %v", entries)
	}
}

// The last checkpoint is written again where a validation comes after it, and named once.
func TestSavedIsSaidOnce(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery = cfg.Data.TrainManifest, 4, 2, 3
	if _, err := Run(t.Context(), cfg, &said); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "step-00000002\n", "saved "+cfg.Run.CheckpointDir+"/step-00000004\n")
	if _, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 4); s.Judged != 4 {
		t.Errorf("the last checkpoint knows of the validation at %d", s.Judged)
	}
}

// A best checkpoint that is gone doesn't cost the score of the test set.
func TestBestCheckpointIsGone(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, cfg.Data.TrainManifest, 4
	run := start(t, cfg, &said)
	run.state.Best, run.state.BestStep, run.best = &Evaluation{}, 1, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(1))
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "WARNING: the best checkpoint can't be used, taking the newest, "+run.last, "test set")
	if r := run.result(); r.Test == nil || r.Test.Loss != r.Last.Loss || r.BestCheckpoint != "" {
		t.Errorf("%+v, want the test set's score with the newest weights", r)
	}
}

// A loss that is no number is said aloud and saved as null; it is never the best, and the run can be resumed.
func TestValidationLossIsNotFinite(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest = speak(t, babble(3, 4, 2)...), cfg.Data.TrainManifest
	cfg.Optimizer.MaxUpdates, cfg.Run.EvalEvery = 2, 2
	run := start(t, cfg, &said)
	run.hook = func(update int) {
		if update == 2 {
			for i := range run.layout.View(run.weights.Floats(), "ctc.weight") {
				run.layout.View(run.weights.Floats(), "ctc.weight")[i] = 3e38
			}
		}
	}
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "ALARM: the loss of 3 of 3 utterances of "+cfg.Data.ValManifest+" is not a finite number: utt00, utt01, utt02",
		"ALARM: the loss of 8 of 8 utterances of "+cfg.Data.TestManifest)
	b, err := os.ReadFile(filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2), checkpoint.StateFile))
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, string(b), `"loss": null`, `"non_finite": 3`)
	checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"validation": 1, "test": 1})
	again := start(t, withResume(cfg), nil)
	if l := float64(again.state.Best.Loss); !math.IsNaN(l) {
		t.Errorf("the loss is read as %g", l)
	}
	if e := (&Evaluation{WER: again.state.Best.WER, CER: again.state.Best.CER, Loss: 1e9}); !e.better(again.state.Best) || again.state.Best.better(e) {
		t.Error("a finite loss doesn't beat one that is none")
	}
}

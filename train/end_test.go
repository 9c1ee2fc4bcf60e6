package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
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
			c.Data.ValManifest, c.Run.EvalEvery, c.Run.EarlyStop, c.Optimizer.LearningRate = []string{manifest}, 1, 2, 1e-30
		}, "no better score in 2 validations in a row (early_stop 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := plain(tiny(t, manifest))
			c.change(&cfg)
			var said bytes.Buffer
			first, err := Run(t.Context(), cfg, Options{Out: &said})
			if err != nil {
				t.Fatal(err)
			}
			mustContainOnce(t, said.String(), "training has ended: "+c.why)
			cfg.Run.Resume = "auto"
			said.Reset()
			again, err := Run(t.Context(), cfg, Options{Out: &said})
			if err != nil || again.Updates != first.Updates {
				t.Fatalf("%+v after %+v (%v)", again, first, err)
			}
			mustContainOnce(t, said.String(), fmt.Sprintf("%d updates done, and training is finished: %s", first.Updates, c.why))
			if strings.Contains(said.String(), ", window ") || strings.Contains(said.String(), "has ended") {
				t.Errorf("there is nothing to go on with:\n%s", said.String())
			}
		})
	}
}

// Utterances that are too short for CTC are in the progress line, where there are any.
func TestProgressShowsInfeasible(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, spoken{id: "a", text: letters}, spoken{id: "b", text: "abababab", samples: 20 * 160})))
	cfg.Model.DecoderLayers, cfg.Optimizer.MaxUpdates = 1, 1 // which has something to learn of it
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "%  1 too short for CTC")
	r := newReporter(&said)
	said.Reset()
	r.update(1, 1, &updateMetrics{})
	if strings.Contains(said.String(), "CTC") {
		t.Errorf("there are none: %s", said.String())
	}
}

// The last checkpoint is written again where a validation comes after it, and named once.
func TestSavedIsSaidOnce(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery = cfg.Data.TrainManifest, 4, 2, 3
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
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
	run.ledger.state.Best, run.ledger.state.BestStep, run.ledger.best = &recognize.Evaluation{}, 1, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(1))
	mustEnd(t, run)
	mustContainOnce(t, said.String(), "WARNING: the best checkpoint can't be used, taking the newest, "+run.ledger.newest, "test set")
	if r := run.result(); r.Test == nil || r.Test.Loss != r.Last.Loss || r.BestCheckpoint != "" {
		t.Errorf("%+v, want the test set's score with the newest weights", r)
	}
}

// A loss that is no number is said aloud and saved as null; it is never the best, and the run can be resumed.
func TestValidationLossIsNotFinite(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest = []string{speak(t, babble(3, 4, 2)...)}, cfg.Data.TrainManifest
	cfg.Optimizer.MaxUpdates, cfg.Run.EvalEvery = 2, 2
	run := start(t, cfg, &said)
	run.hook = atUpdate(2, func() {
		edit(t, run, "ctc.weight", func(w []float32) {
			for i := range w {
				w[i] = 3e38
			}
		})
	})
	mustEnd(t, run)
	mustContainOnce(t, said.String(), "ALARM: the loss of 3 of 3 utterances of "+cfg.Data.ValManifest[0]+" is not a finite number: utt00, utt01, utt02",
		"ALARM: the loss of 8 of 8 utterances of "+cfg.Data.TestManifest[0])
	text := readFile(t, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2), checkpoint.StateFile))
	testkit.MustContain(t, text, `"loss": null`, `"non_finite": 3`)
	checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"validation": 1, "test": 1})
	run.close()
	again := start(t, withResume(cfg), nil)
	if l := float64(again.ledger.state.Best.Loss); !math.IsNaN(l) {
		t.Errorf("the loss is read as %g", l)
	}
	if e := (&recognize.Evaluation{WER: again.ledger.state.Best.WER, CER: again.ledger.state.Best.CER, Loss: 1e9}); !e.Better(again.ledger.state.Best, recognize.ByAuto) || again.ledger.state.Best.Better(e, recognize.ByAuto) {
		t.Error("a finite loss doesn't beat one that is none")
	}
}

// A best checkpoint that is gone, and the newest as well: the weights in memory may be a mixture, and nothing is
// scored.
func TestAllCheckpointsAreGone(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.TestManifest, cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery = cfg.Data.TrainManifest, 4, 4
	r := start(t, cfg, nil)
	mustLoop(t, r)
	remove(t, r.ledger.newest)
	r.ledger.best = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(1))
	testkit.MustFail(t, r.finish(t.Context()), checkpoint.Name(4))
}

// Without a validation set the test set is scored with the newest weights, and nothing is said of a best checkpoint or
// of averages.
func TestWithoutValidation(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.TestManifest, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, 2
	said := mustRun(t, cfg)
	mustContainOnce(t, said, "test set "+cfg.Data.TestManifest[0]+", newest weights: ")
	mustNotContain(t, said, "best checkpoint", "WARNING: the best", "averaged")
}

// A finished run that is started again leaves its checkpoint as it is, to the byte; with a test set it is scored.
func TestFinishedRunIsNotRewritten(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, 3
	mustRun(t, cfg)
	file := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(3), checkpoint.StateFile)
	before := readFile(t, file)
	cfg.Data.TestManifest = cfg.Data.TrainManifest
	mustContainOnce(t, mustRun(t, withResume(cfg)), "3 updates done, and training is finished", "best weights: WER")
	if readFile(t, file) != before {
		t.Error("the checkpoint was written again")
	}
}

// Where a score at the end can't be had, or the run is stopped at it, the run is saved.
func TestTestSetFails(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.TestManifest, cfg.Optimizer.MaxUpdates = cfg.Data.TrainManifest, 3
	r := start(t, cfg, nil)
	f := intercept(r)
	mustLoop(t, r)
	f.run = errors.New("worker 0 broke down")
	if err := r.finish(t.Context()); !errors.Is(err, f.run) {
		t.Errorf("%v", err)
	}
	mustHave(t, cfg.Run.CheckpointDir, 2, 3)
	f.run = nil
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.finish(ctx); !errors.Is(err, ErrInterrupted) {
		t.Errorf("stopped at the test set: %v", err)
	}
	if r.tested != nil {
		t.Errorf("%v", r.tested)
	}
}

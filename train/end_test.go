package train

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
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
			c.Data.ValManifest, c.Run.EvalEvery, c.Run.EarlyStop, c.Optimizer.LearningRate = manifest, 1, 2, 1e-30
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

// Utterances that a faster speed makes too short for CTC are in the progress line, where there are any.
func TestProgressShowsInfeasible(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, spoken{id: "a", text: letters}, spoken{id: "b", text: "abababab", samples: 30 * 160})))
	cfg.Data.SpeedPerturb, cfg.Data.Speeds = true, []float64{1.2}
	cfg.Optimizer.MaxUpdates = 1
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
		t.Fatal(err)
	}
	mustContainOnce(t, said.String(), "%  1 too short for CTC")
	r := newReporter(&said)
	said.Reset()
	r.update(1, &updateMetrics{})
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
	cfg.Data.ValManifest, cfg.Data.TestManifest = speak(t, babble(3, 4, 2)...), cfg.Data.TrainManifest
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
	mustContainOnce(t, said.String(), "ALARM: the loss of 3 of 3 utterances of "+cfg.Data.ValManifest+" is not a finite number: utt00, utt01, utt02",
		"ALARM: the loss of 8 of 8 utterances of "+cfg.Data.TestManifest)
	text := readFile(t, filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2), checkpoint.StateFile))
	mustContain(t, text, `"loss": null`, `"non_finite": 3`)
	checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"validation": 1, "test": 1})
	run.close()
	again := start(t, withResume(cfg), nil)
	if l := float64(again.ledger.state.Best.Loss); !math.IsNaN(l) {
		t.Errorf("the loss is read as %g", l)
	}
	if e := (&recognize.Evaluation{WER: again.ledger.state.Best.WER, CER: again.ledger.state.Best.CER, Loss: 1e9}); !e.Better(again.ledger.state.Best) || again.ledger.state.Best.Better(e) {
		t.Error("a finite loss doesn't beat one that is none")
	}
}

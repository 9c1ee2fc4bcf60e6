package train

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// A finished run has its last checkpoints and the best, stops where it was told to, and scores the test set with
// the best weights.
func TestRunFromStartToEnd(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Data.TestManifest = cfg.Data.TrainManifest
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.KeepLast = 13, 2, 2, 2
	cfg.Optimizer.LearningRate = 1e-9
	run := start(t, cfg, &said)
	// All scores are 100 % here, so the loss decides; weights pushed far off make every later one worse.
	run.hook = atUpdate(4, func() {
		editAll(t, run, func(w []float32) {
			for i := range w {
				w[i] *= 3
			}
		})
	})
	mustEnd(t, run)
	r := run.result()
	if r.Updates != 13 || r.Last == nil || r.Best == nil || !(r.Last.Loss > r.Best.Loss) {
		t.Fatalf("%+v, want 13 updates and a best score before the last", r)
	}
	best := run.ledger.state.BestStep
	mustHave(t, cfg.Run.CheckpointDir, best, 12, 13)
	if best > 2 || filepath.Base(r.BestCheckpoint) != checkpoint.Name(best) {
		t.Errorf("the best is %d (%s), want that before update 4", best, r.BestCheckpoint)
	}
	if r.Test == nil || !(math.Abs(float64(r.Test.Loss-r.Best.Loss)) <= 1e-9) {
		t.Errorf("the test set, which is the validation set, scores %v, the best was %v", r.Test, r.Best)
	}
	testkit.MustContain(t, said.String(), "best checkpoint: ", ", best weights: WER", "memory:", "update 13")

	// The model of the folder is the best one's.
	m := mustLoad(t, cfg.Run.CheckpointDir)
	testkit.MustContain(t, m.String(), checkpoint.Name(best))
	if e, _ := mustScore(t, m, cfg.Data.TestManifest[0]); !(math.Abs(float64(e.Loss-r.Best.Loss)) <= 1e-9+testkit.Products(1.5e-6)*float64(e.Loss)) {
		t.Errorf("evaluated alone it scores %v, the best was %v", e, r.Best)
	}
	checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"start": 1, "update": 13, "validation": 7, "save": 7, "test": 1})
}

// The best checkpoint counts although a save was due before the last validation.
func TestLastValidationIsTheBest(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.KeepLast = 5, 5, 3, 1
	r, err := Run(t.Context(), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 5)
	if s.Judged != 5 || s.Best == nil || (s.BestStep == 5) != (r.BestCheckpoint == r.Checkpoint) {
		t.Errorf("the last checkpoint doesn't know of the validation after it: judged %d, best of %d, %+v", s.Judged, s.BestStep, r)
	}
}

// The result is that of the whole run, with what comes after the last update.
func TestResult(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest, cfg.Run.EvalEvery, cfg.Run.SaveEvery = cfg.Data.TrainManifest, cfg.Data.TrainManifest, 2, 2
	cfg.Optimizer.MaxUpdates, cfg.Optimizer.LearningRate, cfg.Optimizer.WarmupUpdates = 3, 1e-2, 1
	r, err := Run(t.Context(), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 3)
	dir := cfg.Run.CheckpointDir
	if r.Updates != 3 || r.Epochs != 1 || r.Checkpoint != filepath.Join(dir, checkpoint.Name(3)) || r.BestCheckpoint != filepath.Join(dir, checkpoint.Name(s.BestStep)) {
		t.Errorf("%+v, the best is %d", r, s.BestStep)
	}
	if r.Last == nil || r.Last.Loss != s.Score.Loss || r.Best == nil || r.Best.Loss != s.Best.Loss || r.Test == nil || r.Test.Loss != r.Best.Loss {
		t.Errorf("%+v, %+v, %+v, want %+v and %+v", r.Last, r.Best, r.Test, s.Score, s.Best)
	}
}

func TestEarlyStop(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(4, 4, 1)...)))
	cfg.Data.ValManifest = []string{speak(t, babble(3, 4, 2)...)}
	cfg.Optimizer.LearningRate, cfg.Run.EvalEvery, cfg.Run.EarlyStop = 1e-12, 1, 3
	run := start(t, cfg, nil)
	run.hook = func(update int) { // no better for it
		edit(t, run, "ctc.bias", func(w []float32) { w[0] += 1e-2 * float32(update) })
	}
	run.ledger.state.Best, run.ledger.state.BestStep = &recognize.Evaluation{}, 0
	mustLoop(t, run)
	if run.updater.Updates != 3 || run.ledger.state.Stale != 3 {
		t.Errorf("it stopped after %d updates and %d validations without a better score, want 3", run.updater.Updates, run.ledger.state.Stale)
	}
}

// Utterances over a limit are left out whole and named; nothing is cut, and there is no hidden limit.
func TestLengthLimits(t *testing.T) {
	manifest := speak(t, spoken{id: "good", text: "abc"}, spoken{id: "toolong", text: "ab", samples: 5 * 16000},
		spoken{id: "toomuch", text: strings.Repeat("abc", 5)}, spoken{id: "limit", text: strings.Repeat("ab", 5), samples: 4 * 16000})
	cfg := plain(tiny(t, manifest))
	cfg.Data.MaxDuration, cfg.Data.MaxTextLength, cfg.Data.ValManifest = 4, 10, []string{manifest}
	cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates = 1, 1
	var said bytes.Buffer
	run := start(t, cfg, &said)
	w := windows(t, run, 1)[0]
	if len(w.Examples) != 2 {
		t.Fatalf("%d utterances are left, want 2", len(w.Examples))
	}
	for _, e := range w.Examples {
		want, letters := map[string]int{"good": 36, "limit": 400}[e.Utt.ID], map[string]int{"good": 3, "limit": 10}[e.Utt.ID]
		if e.Frames != want || len(e.Tokens) != letters {
			t.Errorf("%s has %d frames and %d tokens, want %d and %d", e.Utt.ID, e.Frames, len(e.Tokens), want, letters)
		}
	}
	testkit.MustContain(t, said.String(), "toolong: 5.000 s, the limit is 4", "toomuch: 15 characters, the limit is 10")
	mustLoop(t, run)
	if n := run.ledger.state.Score.Score.Utterances; n != 4 {
		t.Errorf("validation scores %d of its 4 utterances: the limits are for training", n)
	}
}

// A minute of sound trains like any other utterance.
func TestAMinuteOfSound(t *testing.T) {
	cfg := plain(tiny(t, speak(t, spoken{id: "minute", text: letters, samples: 60 * 16000})))
	cfg.Data.MaxDuration, cfg.Run.CPUWorkers, cfg.Optimizer.MaxUpdates = 0, 1, 1
	cfg.Model.EncoderLayers, cfg.Model.DModel, cfg.Model.SubsampleChannels, cfg.Data.FreqWidth = 1, 8, 2, 2
	var said bytes.Buffer
	run := start(t, cfg, &said)
	if n := windows(t, run, 1)[0].Examples[0].Frames; n != 6000 {
		t.Errorf("%d frames, want 6000", n)
	}
	mustLoop(t, run)
	testkit.MustContain(t, said.String(), "longest utterance minute, 60.0 s")
}

// Fewer batches than grad_accum in the whole set are one window an epoch.
func TestAccumulationLongerThanAnEpoch(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(3, 8, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs = 1, 8, 1
	result, err := Run(t.Context(), cfg, Options{})
	if err != nil || result.Updates != 1 || result.Epochs != 1 {
		t.Fatalf("%+v, %v: want 1 update in 1 epoch", result, err)
	}
}

// What a run sets up is checked before anything is read or made.
func TestRunRefusesItsSettings(t *testing.T) {
	cfg := tiny(t, "")
	testkit.MustContain(t, refused(t, cfg), "train_manifest is not set")
	cfg.Data.TrainManifest, cfg.Optimizer.GradAccum = []string{"none.jsonl"}, 0
	testkit.MustContain(t, refused(t, cfg), "grad_accum is 0")
	cfg.Optimizer.GradAccum, cfg.Run.Device = 1, "cuda"
	testkit.MustContain(t, refused(t, cfg), "device cuda")
	if _, err := os.Stat(cfg.Run.CheckpointDir); err == nil {
		t.Error("a folder was made for it")
	}
	cfg.Run.Device = "cpu"
	testkit.MustContain(t, refused(t, cfg), "none.jsonl")
}

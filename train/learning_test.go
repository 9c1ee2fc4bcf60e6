package train

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// learn trains until the updates run out, and returns what the greedy CTC path makes of the validation set.
func learn(t *testing.T, cfg Config) (*run, []recognize.Hypothesis) {
	t.Helper()
	r := start(t, cfg, nil)
	mustLoop(t, r)
	var hyps []recognize.Hypothesis
	e, err := r.judge.Score(t.Context(), r.sets.val.loader, func(h recognize.Hypothesis) error {
		hyps = append(hyps, h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("after %d updates: %v", r.updater.Updates, e)
	return r, hyps
}

// Four spoken digits are learned by heart: the targets of CTC are the letters and nothing else, so that the
// greedy path has no errors and no end mark.
func TestLearnsFourDigits(t *testing.T) {
	digits := filepath.Join(testkit.Shared(t), "data", "fsdd", "recordings")
	var manifest strings.Builder
	for n, word := range map[int]string{0: "zero", 3: "three", 6: "six", 9: "nine"} {
		fmt.Fprintf(&manifest, "{\"id\": %q, \"audio_filepath\": %q, \"text\": %q}\n", word, filepath.Join(digits, fmt.Sprintf("%d_jackson_0.wav", n)), word)
	}
	path := filepath.Join(t.TempDir(), "digits.jsonl")
	write(t, path, manifest.String())
	cfg := plain(tiny(t, path))
	cfg.Data.ValManifest, cfg.Run.EvalEvery = []string{path}, 1000
	cfg.Model.DModel, cfg.Model.Subsampling, cfg.Model.SubsampleChannels, cfg.Data.NumMels = 32, 2, 8, 40
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs = 4, 1, 1000
	cfg.Optimizer.LearningRate, cfg.Optimizer.WarmupUpdates, cfg.Optimizer.MaxUpdates = 5e-3, 20, 110
	run, hyps := learn(t, cfg)
	var letters text.Counts
	for _, h := range hyps {
		letters.Add(h.Chars)
		if n := len(h.Utt.Tokens); n != len(h.Ref) {
			t.Errorf("%s has a target of %d ids", h.Ref, n)
		}
		for _, id := range h.Utt.Tokens {
			if id < 3 {
				t.Errorf("the target of %s holds the id %d", h.Ref, id)
			}
		}
	}
	if letters.Errors() != 0 || letters.Ref != 16 {
		t.Errorf("%d errors in %d letters, want 0 in 16: %v", letters.Errors(), letters.Ref, hyps)
	}
	// Decoding hides an end mark; the path itself must not have one.
	examples := examplesOf(t, run.sets.val.loader)
	runner := update.NewRunner(run.net, run.replica, 1)
	_, err := runner.Run(examples, update.Ask{Purpose: model.Scoring, Logits: func(_, row int, logits []float32) {
		for at := 0; at < len(logits); at += run.net.Vocab {
			if most(logits[at:][:run.net.Vocab]) == int(text.SosEos) {
				t.Errorf("%s: an end mark in frame %d", examples[row].Utt.Text, at/run.net.Vocab)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// examplesOf reads the first window of a set.
func examplesOf(t *testing.T, l *data.Loader) []*data.Example {
	t.Helper()
	r, err := l.Start(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return w.Examples
}

func most(row []float32) int {
	best := 0
	for i, v := range row {
		if v > row[best] {
			best = i
		}
	}
	return best
}

// The made-up language of tones is learned by heart, with dropout.
func TestLearnsTones(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(6, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Run.EvalEvery = cfg.Data.TrainManifest, 1000
	cfg.Model.Subsampling, cfg.Model.Dropout = 2, 0.05
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 3, 2
	cfg.Optimizer.LearningRate, cfg.Optimizer.MaxUpdates, cfg.Optimizer.NumEpochs = 1e-2, 120, 1000
	_, hyps := learn(t, cfg)
	var letters text.Counts
	for _, h := range hyps {
		letters.Add(h.Chars)
	}
	if letters.Rate() > 0.2 {
		t.Errorf("%v: a fifth of the letters is wrong after 120 updates", letters)
	}
}

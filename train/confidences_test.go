package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// hesitant is a run whose validation set has 30 words, of which the network, biased to one letter, gets some.
func hesitant(t *testing.T) Config {
	cfg := small(tiny(t, speak(t, babble(6, 4, 1)...)))
	cfg.Data.ValManifest = []string{speak(t, pupils(30)...)}
	cfg.Optimizer.MaxUpdates, cfg.Run.EvalEvery, cfg.Run.SaveEvery = 2, 1, 1
	return cfg
}

// pupils are so many utterances of one letter or two.
func pupils(n int) (list []spoken) {
	for i := range n {
		text := letters[:1]
		if i%3 == 0 {
			text = letters[1:3]
		}
		list = append(list, spoken{id: fmt.Sprintf("utt%02d", i), text: text})
	}
	list[0].text = letters
	return list
}

// biased sets a run up whose network hears a letter almost everywhere.
func biased(t *testing.T, cfg Config, out *bytes.Buffer) *run {
	r := start(t, cfg, out)
	edit(t, r, "ctc.bias", func(w []float32) {
		for i := range w {
			w[i] = -2
		}
		w[r.ledger.state.Vocabulary.Encode(letters[:1], nil)[0]] = 1
	})
	return r
}

// measured scores a model's validation set: the words' confidences as a decoding gives them, and what a judge says.
func measured(t *testing.T, m *recognize.Model, manifest string, d recognize.Decoding) (list []float64, c *recognize.Confidences) {
	t.Helper()
	if err := m.SetDecoding(d); err != nil {
		t.Fatal(err)
	}
	var judge recognize.Judge
	_, _, err := m.Evaluate(t.Context(), manifest, recognize.EvaluateOptions{PerUtterance: func(h recognize.Hypothesis) error {
		judge.Add(h)
		for _, w := range h.Segment.Words {
			list = append(list, w.Confidence)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return list, judge.Confidences()
}

// The model that a run ends with, whichever it is, has the calibration of just its weights on the validation set, and
// uses it where nothing else is asked for.
func TestTrainingCalibrates(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"best weights":                   func(*Config) {},
		"averaged weights":               func(c *Config) { c.Run.AverageLast = 2 },
		"best weights (moving averages)": func(c *Config) { c.Optimizer.EMADecay = 0.5 },
	} {
		cfg := hesitant(t)
		change(&cfg)
		var told bytes.Buffer
		r := biased(t, cfg, &told)
		if cfg.Optimizer.EMADecay > 0 {
			if err := r.ledger.memory.beginAverages(); err != nil {
				t.Fatal(err)
			}
		}
		mustEnd(t, r)
		r.close()
		m := mustLoad(t, cfg.Run.CheckpointDir)
		got := m.Description.Score.Confidences
		if got == nil || got.Calibration == nil {
			t.Fatalf("%s: %+v\n%s", name, got, told.String())
		}
		mustContainOnce(t, told.String(), fmt.Sprintf("confidences of words, %s: calibrated on %d words", name, got.Words))
		raw, again := measured(t, m, cfg.Data.ValManifest[0], recognize.Decoding{Units: true, Calibration: recognize.Unchanged()})
		if !reflect.DeepEqual(got, again) || got.Words != len(raw) || m.Calibration() != nil {
			t.Errorf("%s: training said %v, and the model says %v", name, got, again)
		}
		greedy, _ := measured(t, m, cfg.Data.ValManifest[0], recognize.Decoding{Units: true})
		for i, x := range greedy {
			if want := got.Calibration.Apply(raw[i]); x != want {
				t.Fatalf("%s: word %d has %v, want %v of %v", name, i, x, want, raw[i])
			}
		}
		// A search has confidences of another kind, which the calibration is not of.
		if err := m.SetDecoding(recognize.Decoding{Decoder: recognize.Beam, Units: true}); err != nil || m.Calibration() != nil {
			t.Errorf("%s: %v, calibrated as %v", name, err, m.Calibration())
		}
	}
}

// A loaded model transcribes with calibrated confidences though nobody has said how it decodes.
func TestTranscriptsAreCalibrated(t *testing.T) {
	cfg := hesitant(t)
	var told bytes.Buffer
	mustEnd(t, biased(t, cfg, &told))
	confidences := func(m *recognize.Model) (list []float64) {
		sound := filepath.Join(filepath.Dir(cfg.Data.ValManifest[0]), "003.wav")
		err := m.Transcribe(t.Context(), []string{sound}, func(x recognize.Transcript) error {
			for _, s := range x.Segments {
				for _, w := range s.Words {
					list = append(list, w.Confidence)
				}
			}
			return x.Err
		})
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		return list
	}
	asked := func(d recognize.Decoding) []float64 {
		m := mustLoad(t, cfg.Run.CheckpointDir)
		if d.Units {
			if err := m.SetDecoding(d); err != nil {
				t.Fatal(err)
			}
		}
		return confidences(m)
	}
	c := mustLoad(t, cfg.Run.CheckpointDir).Calibration()
	raw := asked(recognize.Decoding{Units: true, Calibration: recognize.Unchanged()})
	for _, d := range []recognize.Decoding{{Units: true}, {Units: true, Calibration: c}} {
		for i, x := range asked(d) {
			if want := c.Apply(raw[i]); math.Abs(x-want) > 1e-12 || x == raw[i] { // rounding is another where segments are joined
				t.Errorf("%+v: word %d has %v, want %v", d, i, x, want)
			}
		}
	}
}

// A run that was stopped in the validation that calibrates ends with the file of the run that wasn't.
func TestCalibrationOfAnInterruptedRun(t *testing.T) {
	straight := hesitant(t)
	straight.Run.EvalEvery, straight.Optimizer.MaxUpdates = 0, 1 // at the end alone: an epoch has two
	broken := elsewhere(t, straight)
	var told bytes.Buffer
	mustEnd(t, biased(t, straight, &told))
	r := biased(t, broken, &told)
	mustLoop(t, r)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := r.finish(stopped); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	r.close()
	if d := mustLoad(t, broken.Run.CheckpointDir).Description; d.Score != nil {
		t.Fatalf("it is calibrated already: %v", d.Score.Confidences)
	}
	mustRun(t, withResume(broken))
	mustEqualRun(t, broken.Run.CheckpointDir, straight.Run.CheckpointDir, 1)
	file := filepath.Join(checkpoint.Name(1), checkpoint.ModelFile)
	a, b := readFile(t, filepath.Join(straight.Run.CheckpointDir, file)), readFile(t, filepath.Join(broken.Run.CheckpointDir, file))
	if a != b {
		t.Error("the models' files differ")
	}
	if c := mustLoad(t, broken.Run.CheckpointDir).Description.Score.Confidences; c == nil || c.Words != 30 {
		t.Errorf("%v", c)
	}
}

// Why confidences stay as they are measured is said, and is no part of the model's file.
func TestTooFewToCalibrate(t *testing.T) {
	cfg := hesitant(t)
	cfg.Data.ValManifest = []string{speak(t, pupils(19)...)}
	var told bytes.Buffer
	r := biased(t, cfg, &told)
	mustEnd(t, r)
	testkit.MustContain(t, told.String(), "confidences of words, best weights: not calibrated: of ", "it takes 20, some right and some wrong")
	mustNotContain(t, readFile(t, filepath.Join(r.ledger.best, checkpoint.ModelFile)), "confidences")
	r.close()
	if c := mustLoad(t, cfg.Run.CheckpointDir).Calibration(); c != nil {
		t.Errorf("%+v", c)
	}
	cfg = hesitant(t)
	cfg.Data.ValManifest = nil
	mustNotContain(t, mustRun(t, cfg), "confidences")
}

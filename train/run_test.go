package train

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
)

// A new run can start with the weights of another: of a checkpoint's folder, of its file, of a bare file.
func TestInitFrom(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"})))
	from := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	bare := filepath.Join(t.TempDir(), "weights.safetensors")
	file := filepath.Join(from, checkpoint.ModelFile)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bare, b, 0o666); err != nil {
		t.Fatal(err)
	}
	cfg.Run.Resume = ""
	want := start(t, withResume(cfg), nil)
	for _, path := range []string{from, file, bare} {
		c := cfg
		c.Run.CheckpointDir, c.Run.InitFrom = filepath.Join(t.TempDir(), "new"), path
		run := start(t, c, nil)
		if !slices.Equal(run.weights.Floats(), want.weights.Floats()) {
			t.Errorf("%s: the weights are others", path)
		}
		if run.optimizer.Updates != 0 || run.optimizer.moments[0].Floats()[0] != 0 || run.state.Progress != (progress{}) {
			t.Errorf("%s: the run begins at update %d, %+v", path, run.optimizer.Updates, run.state.Progress)
		}
	}
	// A checkpoint brings its vocabulary: letters keep their rows whatever the new texts hold.
	c := cfg
	c.Run.CheckpointDir, c.Data.UnknownLimit = filepath.Join(t.TempDir(), "new"), 1
	c.Data.TrainManifest = speak(t, spoken{id: "a", text: "xbcd"})
	for _, path := range []string{from, file} {
		c.Run.InitFrom = path
		if run := start(t, c, nil); run.vocab.Diff(want.vocab) != nil {
			t.Errorf("%s: another vocabulary", path)
		}
	}
	c.Run.InitFrom = bare
	c.Data.TrainManifest = speak(t, spoken{id: "a", text: letters})
	mustContain(t, refused(t, c), "init_from", "ctc.weight")
	// Weights that are not numbers are the file's fault, and no update is made with them.
	spoilt := withResume(cfg)
	rewrite(t, spoilt.Run.CheckpointDir, func(_ *state, model, optimizer []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
		model[1].Data[2] = float32(math.NaN())
		return model, optimizer
	})
	broken := cfg
	broken.Run.CheckpointDir, broken.Run.InitFrom = filepath.Join(t.TempDir(), "new"), from
	mustContain(t, refused(t, broken), "init_from: "+from+" has NaN in "+want.params[1].Name+"[2]")
	c.Run.InitFrom = filepath.Join(t.TempDir(), "none")
	mustContain(t, refused(t, c), "init_from", "none")
}

func withResume(c Config) Config {
	c.Run.Resume = "auto"
	return c
}

// A finished run has its last checkpoints and the best, stops where it was told to, and scores the test set with
// the best weights.
func TestRunFromStartToEnd(t *testing.T) {
	var said bytes.Buffer
	cfg := plain(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Data.TestManifest = cfg.Data.TrainManifest
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.KeepLast = 13, 2, 2, 2
	run, err := setUp(t.Context(), cfg, &said)
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	// All scores are 100 % here, so the loss decides; weights pushed far off make every later one worse.
	run.hook = func(update int) {
		if update == 4 {
			for i := range run.weights.Floats() {
				run.weights.Floats()[i] *= 3
			}
			run.cfg.Optimizer.LearningRate = 1e-9
		}
	}
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := run.result()
	if r.Updates != 13 || r.Last == nil || r.Best == nil || !(r.Last.Loss > r.Best.Loss) {
		t.Fatalf("%+v, want 13 updates and a best score before the last", r)
	}
	best := run.state.BestStep
	var steps []int
	entries, _ := checkpoint.List(cfg.Run.CheckpointDir)
	for _, e := range entries {
		steps = append(steps, e.Step)
	}
	if best > 2 || !slices.Equal(steps, []int{best, 12, 13}) || filepath.Base(r.BestCheckpoint) != checkpoint.Name(best) {
		t.Errorf("checkpoints of updates %v, best %d (%s), want the best and the last two", steps, best, r.BestCheckpoint)
	}
	if r.Test == nil || !(math.Abs(float64(r.Test.Loss-r.Best.Loss)) <= 1e-9) {
		t.Errorf("the test set, which is the validation set, scores %v, the best was %v", r.Test, r.Best)
	}
	mustContain(t, said.String(), "best checkpoint: ", "test set", "memory:", "update 13")

	// The recogniser of the folder is the best one's.
	rec, err := Load(cfg.Run.CheckpointDir, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	mustContain(t, rec.Describe(), checkpoint.Name(best))
	e, err := rec.Evaluate(t.Context(), cfg.Data.TestManifest, EvalOptions{})
	if err != nil || !(math.Abs(float64(e.Loss-r.Best.Loss)) <= 1e-9) {
		t.Errorf("evaluated alone it scores %v (%v), the best was %v", e, err, r.Best)
	}
	checkMetrics(t, cfg.Run.CheckpointDir, map[string]int{"start": 1, "update": 13, "validation": 7, "save": 7, "test": 1})
}

// checkMetrics counts the events of metrics.jsonl.
func checkMetrics(t *testing.T, dir string, want map[string]int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(string(b)) {
		var record struct {
			Event, Time string
			Update      int
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Time == "" {
			t.Fatalf("%q: %v", line, err)
		}
		got[record.Event]++
		if record.Event == "update" && record.Update != got["update"] {
			t.Errorf("record %d is of update %d", got["update"], record.Update)
		}
	}
	for event, n := range want {
		if got[event] != n {
			t.Errorf("%d records of %s, want %d", got[event], event, n)
		}
	}
}

// The best checkpoint counts although a save was due before the last validation.
func TestLastValidationIsTheBest(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.KeepLast = 5, 5, 3, 1
	r, err := Run(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _, s := readCheckpoint(t, cfg.Run.CheckpointDir, 5)
	if s.Judged != 5 || s.Best == nil || (s.BestStep == 5) != (r.BestCheckpoint == r.Checkpoint) {
		t.Errorf("the last checkpoint doesn't know of the validation after it: judged %d, best of %d, %+v", s.Judged, s.BestStep, r)
	}
}

func TestEarlyStop(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(4, 4, 1)...)))
	cfg.Data.ValManifest = speak(t, babble(3, 4, 2)...)
	cfg.Optimizer.LearningRate, cfg.Run.EvalEvery, cfg.Run.EarlyStop = 1e-12, 1, 3
	run := start(t, cfg, nil)
	run.hook = func(update int) { run.weights.Floats()[0] += 1e-2 * float32(update) } // no better for it
	run.state.Best, run.state.BestStep = &Evaluation{}, 0
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if run.optimizer.Updates != 3 || run.state.Stale != 3 {
		t.Errorf("it stopped after %d updates and %d validations without a better score, want 3", run.optimizer.Updates, run.state.Stale)
	}
}

// Utterances over a limit are left out whole and named; nothing is cut, and there is no hidden limit.
func TestLengthLimits(t *testing.T) {
	manifest := speak(t, spoken{id: "good", text: "abc"}, spoken{id: "toolong", text: "ab", samples: 5 * 16000},
		spoken{id: "toomuch", text: strings.Repeat("abc", 5)}, spoken{id: "limit", text: strings.Repeat("ab", 5), samples: 4 * 16000})
	cfg := plain(tiny(t, manifest))
	cfg.Data.MaxDuration, cfg.Data.MaxTextLength, cfg.Data.ValManifest = 4, 10, manifest
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
	mustContain(t, said.String(), "toolong: 5.000 s, the limit is 4", "toomuch: 15 characters, the limit is 10")
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := run.state.Score.Score.Utterances; n != 4 {
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
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustContain(t, said.String(), "longest utterance minute, 60.0 s")
}

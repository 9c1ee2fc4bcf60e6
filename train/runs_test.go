package train

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// tiny is the configuration of a run on a manifest that takes milliseconds an update. Everything random is on.
func tiny(t testing.TB, manifest string) Config {
	c := Default()
	c.Data.TrainManifest, c.Data.NumMels, c.Data.FreqWidth, c.Data.TimeShare = []string{manifest}, 20, 5, 0.2
	c.Model = ModelConfig{
		DModel: 16, EncoderLayers: 2, DecoderLayers: 1, Heads: 2, ConvKernel: 5, Subsampling: 4,
		SubsampleChannels: 4, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
	c.Optimizer.BatchSize, c.Optimizer.GradAccum, c.Optimizer.WarmupUpdates, c.Optimizer.NumEpochs = 2, 2, 20, 100
	c.Optimizer.LongWarmup = true // most runs are cut short
	c.Run.CheckpointDir, c.Run.CPUWorkers, c.Run.LogEvery = filepath.Join(t.TempDir(), "run"), 2, 1
	return c
}

// plain turns off everything random but the start values.
func plain(c Config) Config {
	c.Data.SpecAugment, c.Data.SpeedPerturb, c.Model.Dropout = false, false, 0
	return c
}

// small is the smallest network, for runs whose weights don't matter.
func small(c Config) Config {
	c.Model = ModelConfig{
		DModel: 8, EncoderLayers: 1, Heads: 1, ConvKernel: 3, Subsampling: 4, SubsampleChannels: 2, CTCWeight: 1,
	}
	c.Data.NumMels, c.Data.FreqWidth, c.Run.CPUWorkers = 8, 2, 1
	return plain(c)
}

func withResume(c Config) Config {
	c.Run.Resume = "auto"
	return c
}

// elsewhere is the same run in a fresh folder.
func elsewhere(t testing.TB, c Config) Config {
	c.Run.CheckpointDir = filepath.Join(t.TempDir(), "run")
	return c
}

// fromSettings reads a configuration as a checkpoint holds it.
func fromSettings(saved json.RawMessage) (Config, error) {
	c := Default()
	set, err := settings.Of(&c)
	if err != nil {
		return c, err
	}
	return c, set.YAML("the settings", saved) // JSON is YAML
}

// start sets a run up, to be closed at the end of the test. What it says goes to out, nil for nowhere.
func start(t testing.TB, c Config, out io.Writer) *run {
	t.Helper()
	r, err := setUp(context.Background(), c, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// atUpdate is a hook that does something once an update was made, the first time.
func atUpdate(n int, do func()) func(int) {
	done := false
	return func(update int) {
		if update == n && !done {
			done = true
			do()
		}
	}
}

// mustLoop makes a run's updates.
func mustLoop(t testing.TB, r *run) {
	t.Helper()
	if err := r.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// mustEnd makes a run's updates and all that comes after them.
func mustEnd(t testing.TB, r *run) {
	t.Helper()
	mustLoop(t, r)
	if err := r.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// mustRun makes a whole run and returns what it said.
func mustRun(t testing.TB, cfg Config) string {
	t.Helper()
	var said bytes.Buffer
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return said.String()
}

// refused sets a run up that must not start, and returns why.
func refused(t testing.TB, cfg Config) string {
	t.Helper()
	before := steps(t, cfg.Run.CheckpointDir)
	r, err := setUp(t.Context(), cfg, Options{})
	if err == nil {
		r.close()
		t.Error("it was accepted")
		return ""
	}
	if after := steps(t, cfg.Run.CheckpointDir); !slices.Equal(before, after) {
		t.Error("a refused run changed the checkpoints")
	}
	return err.Error()
}

// once trains two updates, with a checkpoint after each, and returns the settings to go on with.
func once(t testing.TB, cfg Config) Config {
	t.Helper()
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery = 2, 1
	mustRun(t, cfg)
	cfg.Optimizer.MaxUpdates, cfg.Run.Resume = 3, "auto"
	return cfg
}

// windows reads the first n windows of a run.
func windows(t testing.TB, r *run, n int) []*data.Window {
	t.Helper()
	s, err := r.sets.loader.Start(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out []*data.Window
	for range n {
		w, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// steps lists the checkpoints of a folder.
func steps(t testing.TB, dir string) (list []int) {
	t.Helper()
	entries, err := checkpoint.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Step)
	}
	return list
}

// mustHave holds the checkpoints of a folder to these.
func mustHave(t testing.TB, dir string, want ...int) {
	t.Helper()
	if got := steps(t, dir); !slices.Equal(got, want) {
		t.Errorf("there are the checkpoints %v, want %v", got, want)
	}
}

// readCheckpoint is a checkpoint's files, and its state without what is about time and place.
func readCheckpoint(t testing.TB, dir string, step int) (model, optimizer []byte, s state) {
	t.Helper()
	path := filepath.Join(dir, checkpoint.Name(step))
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.State(&s); err != nil {
		t.Fatal(err)
	}
	s.Config, s.Progress.Seconds, s.Since.Seconds, s.Since.Waited = nil, 0, 0, 0
	scores := []*recognize.Evaluation{s.Score, s.Best}
	if s.Before != nil {
		scores = append(scores, s.Before.Score, s.Before.Best)
	}
	for _, e := range scores {
		if e != nil {
			e.Took = 0
		}
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return read(checkpoint.ModelFile), read(checkpoint.OptimizerFile), s
}

// mustEqualRun compares a resumed run's checkpoint with that of the run that went through, byte for byte.
func mustEqualRun(t testing.TB, dir, straight string, step int) (got state) {
	t.Helper()
	wantModel, wantOptimizer, want := readCheckpoint(t, straight, step)
	model, optimizer, got := readCheckpoint(t, dir, step)
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if !slices.Equal(model, wantModel) || !slices.Equal(optimizer, wantOptimizer) || string(a) != string(b) {
		t.Errorf("weights, moments or state differ from the straight run:\n%s\n%s", b, a)
	}
	return got
}

// mustLoad opens a trained model until the test ends.
func mustLoad(t testing.TB, path string) *recognize.Model {
	t.Helper()
	m, err := recognize.Load(path, recognize.LoadOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// mustScore scores a manifest and returns what was said.
func mustScore(t testing.TB, m *recognize.Model, manifest string) (e *recognize.Evaluation, said string) {
	t.Helper()
	var out bytes.Buffer
	e, _, err := m.Evaluate(t.Context(), manifest, recognize.EvaluateOptions{Progress: &out})
	if err != nil {
		t.Fatal(err)
	}
	return e, out.String()
}

// mustContainOnce holds a text to what it has to say, and to not saying it again.
func mustContainOnce(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if n := strings.Count(text, p); n != 1 {
			t.Errorf("it says %q %d times, want once:\n%s", p, n, text)
		}
	}
}

// mustNotContain holds a text to what it must not say.
func mustNotContain(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("it says %q:\n%s", p, text)
		}
	}
}

// readFile is the text of a file.
func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// remove removes a file or a folder with all that is in it.
func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

package train

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
)

// once trains two updates, with a checkpoint after each, and returns the settings to go on with.
func once(t *testing.T, cfg Config) Config {
	t.Helper()
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery = 2, 1
	if _, err := Run(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	cfg.Optimizer.MaxUpdates, cfg.Run.Resume = 3, "auto"
	return cfg
}

// refused sets a run up that must not start, and returns why.
func refused(t *testing.T, cfg Config) string {
	t.Helper()
	before, _ := checkpoint.List(cfg.Run.CheckpointDir)
	run, err := setUp(t.Context(), cfg, nil)
	if err == nil {
		run.close()
		t.Fatal("it was accepted")
	}
	if after, _ := checkpoint.List(cfg.Run.CheckpointDir); !slices.Equal(before, after) {
		t.Error("a refused run changed the checkpoints")
	}
	return err.Error()
}

func TestResumeRefusesAnotherNetworkOrPolicy(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	cfg := once(t, tiny(t, manifest))
	c := cfg
	c.Model.DModel, c.Model.EncoderLayers, c.Model.DecoderLayers = 24, 3, 2
	mustContain(t, refused(t, c), "d_model: 16 / 24", "encoder_layers: 2 / 3", "decoder_layers: 1 / 2", "checkpoint_dir")
	c = cfg
	c.Data.NumMels = 16
	mustContain(t, refused(t, c), "num_mels: 20 / 16")
	c = cfg
	c.Data.KeepJoiners, c.Data.FoldDigits = true, true
	mustContain(t, refused(t, c), "keep_joiners: false / true", "fold_digits: false / true")
	c = cfg
	c.Data.SampleRate, c.Data.Normalize = 8000, "none"
	mustContain(t, refused(t, c), "sample_rate: 16000 / 8000", `normalize: "utterance" / "none"`)

	// What doesn't make another network is noted, not refused.
	c = cfg
	c.Optimizer.LearningRate, c.Run.Seed = 2e-3, 9
	var said bytes.Buffer
	run := start(t, c, &said)
	mustContain(t, said.String(), "learning_rate: 0.001 / 0.002", "seed: 1 / 9")
	if run.optimizer.Updates != 2 {
		t.Errorf("resumed at update %d, want 2", run.optimizer.Updates)
	}
}

func TestResumeRefusesAnotherVocabulary(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"})))
	c := cfg
	c.Data.TrainManifest = speak(t, spoken{id: "a", text: "abcde"}, spoken{id: "b", text: "dcba"})
	mustContain(t, refused(t, c), "vocabulary", "7", "8", "init_from")
	c.Data.TrainManifest = speak(t, spoken{id: "a", text: "abce"}, spoken{id: "b", text: "ecba"}) // as many letters
	mustContain(t, refused(t, c), "vocabulary", "d", "e")
	// One of the same letters in another order, as another program might have made it.
	rewrite(t, cfg.Run.CheckpointDir, func(s *state, _, _ []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
		if err := s.Vocabulary.UnmarshalJSON([]byte(`{"tokens": ["<blank>", "<sos/eos>", "<unk>", "b", "a", "c", "d"]}`)); err != nil {
			t.Fatal(err)
		}
		return nil, nil
	})
	mustContain(t, refused(t, cfg), "vocabulary", "a", "b")
	c = cfg
	c.Model.VocabSize = 99
	mustContain(t, refused(t, c), "vocab_size is 99", "gives 7")
}

// rewrite loads the newest checkpoint, changes it and saves it again.
func rewrite(t *testing.T, dir string, change func(s *state, model, optimizer []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor)) {
	t.Helper()
	c, _, err := checkpoint.Latest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s state
	if err := c.State(&s); err != nil {
		t.Fatal(err)
	}
	cfg, err := fromSettings(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	core := open(t, cfg.Network(s.Vocabulary.Size()), 1, false)
	model := core.tensors("", make([]float32, core.layout.Words))
	optimizer := append(core.tensors("m.", make([]float32, core.layout.Words)), core.tensors("v.", make([]float32, core.layout.Words))...)
	if err := c.LoadModel(model); err != nil {
		t.Fatal(err)
	}
	if err := c.LoadOptimizer(optimizer); err != nil {
		t.Fatal(err)
	}
	m, o := change(&s, model, optimizer)
	if m == nil {
		m, o = model, optimizer
	}
	if _, err := checkpoint.Save(dir, c.Step, m, o, &s); err != nil {
		t.Fatal(err)
	}
}

// A tensor too few or too many, in the model or the moments, is refused by name.
func TestResumeRefusesOtherTensors(t *testing.T) {
	extra := checkpoint.Tensor{Name: "encoder.extra.weight", Shape: []int{2}, Data: []float32{1, 2}}
	for name, change := range map[string]func(m, o []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor){
		"encoder.subsample.conv.0.weight":   func(m, o []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) { return m[1:], o },
		"m.encoder.subsample.conv.0.weight": func(m, o []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) { return m, o[1:] },
		"encoder.extra.weight": func(m, o []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
			return append(m, extra), o
		},
		" encoder.extra.weight": func(m, o []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
			return m, append(o, extra)
		},
	} {
		cfg := once(t, tiny(t, speak(t, babble(4, 4, 1)...)))
		rewrite(t, cfg.Run.CheckpointDir, func(_ *state, m, o []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
			return change(m, o)
		})
		mustContain(t, refused(t, cfg), strings.TrimSpace(name))
	}
}

// A damaged newest checkpoint is named and passed over; where none is whole, the run doesn't start anew in silence.
func TestResumePassesOverDamage(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, babble(8, 4, 1)...)))
	newest := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2), checkpoint.OptimizerFile)
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-100] ^= 4
	if err := os.WriteFile(newest, b, 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	run, err := setUp(t.Context(), cfg, &said)
	if err != nil {
		t.Fatal(err)
	}
	if run.optimizer.Updates != 1 {
		t.Errorf("resumed at update %d, want 1", run.optimizer.Updates)
	}
	mustContain(t, said.String(), "WARNING: passed over", checkpoint.Name(2), checkpoint.OptimizerFile)
	if err := run.loop(t.Context()); err != nil { // and goes on past it
		t.Fatal(err)
	}
	run.close()
	if c, damaged, _ := checkpoint.Latest(cfg.Run.CheckpointDir); c == nil || c.Step != 3 || len(damaged) != 0 {
		t.Errorf("the newest checkpoint is %+v, damaged %v", c, damaged)
	}
	for step := 1; step <= 3; step++ {
		if err := os.Truncate(filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(step), checkpoint.ModelFile), 500); err != nil {
			t.Fatal(err)
		}
	}
	mustContain(t, refused(t, cfg), "none of the checkpoints", "is whole")
}

func TestRunsDontMix(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	cfg := once(t, tiny(t, manifest))
	c := cfg
	c.Run.Resume = ""
	mustContain(t, refused(t, c), "holds a run already", checkpoint.Name(2), "--resume auto")
	// Going back: the later checkpoints are not mixed with the new ones.
	c.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(1))
	mustContain(t, refused(t, c), "later checkpoints", checkpoint.Name(2))
	c.Run.CheckpointDir = filepath.Join(t.TempDir(), "other")
	result, err := Run(t.Context(), c, nil)
	if err != nil || result.Updates != 3 || filepath.Dir(result.Checkpoint) != c.Run.CheckpointDir {
		t.Errorf("going back in another folder: %+v, %v", result, err)
	}
	// Another run's folder: its checkpoints would be averaged and removed as if they were this one's.
	c.Run.CheckpointDir = once(t, tiny(t, manifest)).Run.CheckpointDir
	mustContain(t, refused(t, c), "another run's checkpoints", checkpoint.Name(2), "--resume auto")
	c.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, "nothing")
	mustContain(t, refused(t, c), "nothing")
	// auto without a checkpoint is a new run.
	c = cfg
	c.Run.CheckpointDir = filepath.Join(t.TempDir(), "new")
	var said bytes.Buffer
	if run := start(t, c, &said); run.optimizer.Updates != 0 {
		t.Errorf("a new run begins at update %d", run.optimizer.Updates)
	}
	mustContain(t, said.String(), "a new run")
}

// Weights to start from are refused where the network would hear or write otherwise than it has learned to: each
// setting is named with both values. Statistics of global normalisation come with them.
func TestInitFromRefusesOtherSoundAndText(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	cfg := tiny(t, manifest)
	cfg.Data.Normalize = "global"
	cfg = once(t, cfg)
	from := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	cfg.Run.Resume, cfg.Run.CheckpointDir = "", filepath.Join(t.TempDir(), "new")
	for _, path := range []string{from, filepath.Join(from, checkpoint.ModelFile)} {
		c := cfg
		c.Run.InitFrom = path
		c.Data.KeepJoiners, c.Data.FoldDigits, c.Data.SampleRate, c.Data.NumMels, c.Data.Normalize = true, true, 8000, 16, "none"
		c.Model.Heads = 4
		mustContain(t, refused(t, c), "init_from: "+from, "keep_joiners: false / true", "fold_digits: false / true", "sample_rate: 16000 / 8000",
			"num_mels: 20 / 16", `normalize: "global" / "none"`, "heads: 2 / 4")
	}
	_, _, want := readCheckpoint(t, filepath.Dir(from), 2)
	c := cfg
	c.Run.InitFrom, c.Data.TrainManifest = from, speak(t, babble(5, 3, 9)...)
	c.Optimizer.LearningRate, c.Model.Dropout = 2e-4, 0.3
	run := start(t, c, nil)
	if got := run.state.Stats; got == nil || !slices.Equal(got.Mean, want.Stats.Mean) || !slices.Equal(got.Deviation, want.Stats.Deviation) {
		t.Error("the statistics are not those of the weights")
	}
	if err := os.Truncate(filepath.Join(from, checkpoint.OptimizerFile), 10); err != nil {
		t.Fatal(err)
	}
	c.Run.InitFrom, c.Data.UnknownLimit = filepath.Join(from, checkpoint.ModelFile), 1
	var said bytes.Buffer
	start(t, c, &said)
	mustContain(t, said.String(), "WARNING: init_from: the checkpoint around", "is damaged")
}

// A resume with a lower keep_last removes what is too many before it saves anything; the best stays, and where the
// newest is damaged, all stay.
func TestResumeMakesRoom(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.KeepLast = 4, 1, 4
	if _, err := Run(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	rewrite(t, cfg.Run.CheckpointDir, func(s *state, _, _ []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
		s.Best, s.BestStep = &Evaluation{}, 2
		return nil, nil
	})
	steps := func() (list []int) {
		entries, err := checkpoint.List(cfg.Run.CheckpointDir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			list = append(list, e.Step)
		}
		return list
	}
	cfg.Run.Resume, cfg.Run.KeepLast, cfg.Optimizer.MaxUpdates = "auto", 1, 6
	newest := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(4), checkpoint.ModelFile)
	whole, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(whole)
	damaged[len(damaged)-1] ^= 1 // of the right size
	if err := os.WriteFile(newest, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	start(t, cfg, nil)
	if !slices.Equal(steps(), []int{1, 2, 3, 4}) {
		t.Errorf("beside a damaged newest checkpoint %v are left", steps())
	}
	if err := os.WriteFile(newest, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	run := start(t, cfg, &said)
	if !slices.Equal(steps(), []int{2, 4}) {
		t.Errorf("%v are left, want the best and the newest", steps())
	}
	mustContain(t, said.String(), checkpoint.Name(1)+": keep_last is 1", checkpoint.Name(3)+": keep_last is 1")
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	advice := func(keepLast, averageLast int) string {
		run.cfg.Run.KeepLast, run.cfg.Run.AverageLast = keepLast, averageLast
		return run.withAdvice(&checkpoint.NoSpaceError{Free: -1}).Error()
	}
	mustContain(t, advice(3, 0), "--resume auto --keep_last 1 begins with removing")
	mustContain(t, advice(1, 8), "--resume auto --keep_last 1 --average_last 0 begins with removing")
	run.cfg.Run.CheckpointDir = t.TempDir() // with nothing to remove
	for _, s := range []string{advice(1, 0), advice(3, 8)} {
		if strings.Contains(s, "--keep_last") {
			t.Errorf("advice that can't help: %s", s)
		}
	}
}

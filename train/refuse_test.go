package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

func TestResumeRefusesAnotherNetworkOrPolicy(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	cfg := once(t, tiny(t, manifest))
	c := cfg
	c.Model.DModel, c.Model.EncoderLayers, c.Model.DecoderLayers = 24, 3, 2
	testkit.MustContain(t, refused(t, c), "d_model: 16 / 24", "encoder_layers: 2 / 3", "decoder_layers: 1 / 2", "checkpoint_dir")
	c = cfg
	c.Data.NumMels = 16
	testkit.MustContain(t, refused(t, c), "num_mels: 20 / 16")
	c = cfg
	c.Data.KeepJoiners, c.Data.FoldDigits = true, true
	testkit.MustContain(t, refused(t, c), "keep_joiners: false / true", "fold_digits: false / true")
	c = cfg
	c.Data.SampleRate, c.Data.Normalize = 8000, "none"
	testkit.MustContain(t, refused(t, c), "sample_rate: 16000 / 8000", `normalize: "utterance" / "none"`)

	// What doesn't make another network is noted, not refused.
	c = cfg
	c.Optimizer.LearningRate, c.Run.Seed = 2e-3, 9
	var said bytes.Buffer
	run := start(t, c, &said)
	testkit.MustContain(t, said.String(), "learning_rate: 0.001 / 0.002", "seed: 1 / 9")
	if run.updater.Updates != 2 {
		t.Errorf("resumed at update %d, want 2", run.updater.Updates)
	}
}

func TestResumeRefusesAnotherVocabulary(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"})))
	c := cfg
	c.Data.TrainManifest = []string{speak(t, spoken{id: "a", text: "abcde"}, spoken{id: "b", text: "dcba"})}
	testkit.MustContain(t, refused(t, c), "vocabulary", "7", "8", "init_from")
	c.Data.TrainManifest = []string{speak(t, spoken{id: "a", text: "abce"}, spoken{id: "b", text: "ecba"})} // as many letters
	testkit.MustContain(t, refused(t, c), "vocabulary", "d", "e")
	// One of the same letters in another order, as another program might have made it.
	rewrite(t, cfg.Run.CheckpointDir, func(c *contents) {
		if err := c.state.Vocabulary.UnmarshalJSON([]byte(`{"tokens": ["<blank>", "<sos/eos>", "<unk>", "b", "a", "c", "d"]}`)); err != nil {
			t.Fatal(err)
		}
	})
	testkit.MustContain(t, refused(t, cfg), "vocabulary", "a", "b")
	c = cfg
	c.Model.VocabSize = 99
	testkit.MustContain(t, refused(t, c), "vocab_size is 99", "gives 7")
}

// A tensor too few or too many, in the model or the moments, is refused by name.
func TestResumeRefusesOtherTensors(t *testing.T) {
	extra := &named{"encoder.extra.weight", []int{2}, []float32{1, 2}}
	cfg := once(t, small(tiny(t, speak(t, babble(4, 4, 1)...))))
	for name, change := range map[string]func(c *contents){
		"encoder.subsample.conv.0.weight":   func(c *contents) { c.model = c.model[1:] },
		"m.encoder.subsample.conv.0.weight": func(c *contents) { c.optimizer = c.optimizer[1:] },
		"encoder.extra.weight":              func(c *contents) { c.model = append(c.model, extra) },
		" encoder.extra.weight":             func(c *contents) { c.optimizer = append(c.optimizer, extra) },
	} {
		c := elsewhere(t, cfg)
		if err := os.CopyFS(c.Run.CheckpointDir, os.DirFS(cfg.Run.CheckpointDir)); err != nil {
			t.Fatal(err)
		}
		rewrite(t, c.Run.CheckpointDir, change)
		testkit.MustContain(t, refused(t, c), strings.TrimSpace(name))
	}
}

// A damaged newest checkpoint is named and passed over; where none is whole, the run doesn't start anew in silence.
func TestResumePassesOverDamage(t *testing.T) {
	cfg := once(t, tiny(t, speak(t, babble(8, 4, 1)...)))
	damage(t, cfg.Run.CheckpointDir, 2, checkpoint.OptimizerFile)
	var said bytes.Buffer
	run, err := setUp(t.Context(), cfg, Options{Out: &said})
	if err != nil {
		t.Fatal(err)
	}
	if run.updater.Updates != 1 {
		t.Errorf("resumed at update %d, want 1", run.updater.Updates)
	}
	testkit.MustContain(t, said.String(), "WARNING: passed over", checkpoint.Name(2), checkpoint.OptimizerFile)
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
	testkit.MustContain(t, refused(t, cfg), "none of the checkpoints", "is whole")
}

func TestRunsDontMix(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	cfg := once(t, tiny(t, manifest))
	c := cfg
	c.Run.Resume = ""
	testkit.MustContain(t, refused(t, c), "holds a run already", checkpoint.Name(2), "--resume auto")
	// Going back: the later checkpoints are not mixed with the new ones.
	c.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(1))
	testkit.MustContain(t, refused(t, c), "later checkpoints", checkpoint.Name(2))
	c.Run.CheckpointDir = filepath.Join(t.TempDir(), "other")
	result, err := Run(t.Context(), c, Options{})
	if err != nil || result.Updates != 3 || filepath.Dir(result.Checkpoint) != c.Run.CheckpointDir {
		t.Errorf("going back in another folder: %+v, %v", result, err)
	}
	// Another run's folder: its checkpoints would be averaged and removed as if they were this one's.
	c.Run.CheckpointDir = once(t, tiny(t, manifest)).Run.CheckpointDir
	testkit.MustContain(t, refused(t, c), "another run's checkpoints", checkpoint.Name(2), "--resume auto")
	c.Run.Resume = filepath.Join(cfg.Run.CheckpointDir, "nothing")
	testkit.MustContain(t, refused(t, c), "nothing")
	// auto without a checkpoint is a new run.
	c = cfg
	c.Run.CheckpointDir = filepath.Join(t.TempDir(), "new")
	var said bytes.Buffer
	if run := start(t, c, &said); run.updater.Updates != 0 {
		t.Errorf("a new run begins at update %d", run.updater.Updates)
	}
	testkit.MustContain(t, said.String(), "a new run")
}

// A resume with a lower keep_last removes what is too many before it saves anything; the best stays, and where the
// newest is damaged, all stay.
func TestResumeMakesRoom(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.KeepLast = 4, 1, 4
	if _, err := Run(t.Context(), cfg, Options{}); err != nil {
		t.Fatal(err)
	}
	dir := cfg.Run.CheckpointDir
	rewrite(t, dir, func(c *contents) { c.state.Best, c.state.BestStep = &recognize.Evaluation{}, 2 })
	cfg.Run.Resume, cfg.Run.KeepLast, cfg.Optimizer.MaxUpdates = "auto", 1, 6
	damage(t, dir, 4, checkpoint.ModelFile)
	start(t, cfg, nil).close()
	mustHave(t, dir, 1, 2, 3, 4)
	damage(t, dir, 4, checkpoint.ModelFile) // and back
	var said bytes.Buffer
	run := start(t, cfg, &said)
	mustHave(t, dir, 2, 4)
	testkit.MustContain(t, said.String(), checkpoint.Name(1)+": keep_last is 1", checkpoint.Name(3)+": keep_last is 1")
	mustLoop(t, run)
	advice := func(keepLast, averageLast int) string {
		run.ledger.cfg.Run.KeepLast, run.ledger.cfg.Run.AverageLast = keepLast, averageLast
		return run.ledger.withAdvice(&checkpoint.NoSpaceError{Free: -1}).Error()
	}
	testkit.MustContain(t, advice(3, 0), " --resume auto --keep_last 1")
	testkit.MustContain(t, advice(1, 8), "--resume auto --keep_last 1 --average_last 0")
	run.ledger.dir = t.TempDir() // with nothing to remove
	for _, s := range []string{advice(1, 0), advice(3, 8)} {
		if strings.Contains(s, "--keep_last") {
			t.Errorf("advice that can't help: %s", s)
		}
	}
}

package train

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"konkanitrain/internal/testkit"
)

// What is wrong with a set is said, of each set, before anything is trained.
func TestSetsAreRefused(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	base := small(tiny(t, manifest))
	unknown := speak(t, spoken{id: "a", text: "xyz"})
	for want, change := range map[string]func(c *Config){
		"no-train.jsonl": func(c *Config) { c.Data.TrainManifest = []string{"no-train.jsonl"} },
		"no-val.jsonl":   func(c *Config) { c.Data.ValManifest = []string{"no-val.jsonl"} },
		"no-test.jsonl":  func(c *Config) { c.Data.TestManifest = []string{"no-test.jsonl"} },
		unknown:          func(c *Config) { c.Data.ValManifest = []string{unknown} },
		"unknown_limit":  func(c *Config) { c.Data.TestManifest = []string{unknown} },
		"vocab_size":     func(c *Config) { c.Model.VocabSize = 5 },
	} {
		c := elsewhere(t, base)
		change(&c)
		testkit.MustContain(t, refused(t, c), want)
	}
	// A vocabulary without letters; the report of what was left out is said, as it may be why.
	c := elsewhere(t, base)
	c.Data.MinCharCount = 1000
	var said bytes.Buffer
	_, err := setUp(t.Context(), c, Options{Out: &said})
	testkit.MustFail(t, err, "min_char_count is too high")
	testkit.MustContain(t, said.String(), "8 of 8 utterances used")
}

// What package data refuses comes through, also what Validate has seen before.
func TestErrorsOfLoading(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	r := start(t, cfg, nil)
	r.ledger.state.Progress.Window = 99
	testkit.MustFail(t, r.loop(t.Context()), "99")
	r.cfg.Optimizer.GradAccum = 0
	testkit.MustFail(t, r.loadData(t.Context()), "a window of 0 utterances")
	r.cfg = cfg
	r.cfg.Data.PathMap = []string{"x"}
	testkit.MustFail(t, r.loadData(t.Context()), "path_map")
}

// The network is checked before memory is taken, and what a replica refuses at the start ends the run.
func TestErrorsOfTheStart(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	r := start(t, cfg, nil)
	f := intercept(r)
	f.load = errors.New("broken")
	if err := r.restore(); !errors.Is(err, f.load) {
		t.Errorf("from a checkpoint: %v", err)
	}
	r.ledger.origin.Checkpoint = nil
	f.initialize = errors.New("broken too")
	if err := r.restore(); err != f.initialize {
		t.Errorf("start values: %v", err)
	}
	f.load, f.initialize, f.finite = nil, nil, errors.New("broken as well")
	r.ledger.cfg.Run.InitFrom = filepath.Join(cfg.Run.CheckpointDir, "step-00000002")
	if err := r.restore(); err != f.finite {
		t.Errorf("a look at the weights: %v", err)
	}
	if err := r.ledger.save(true); err != f.finite {
		t.Errorf("a look at the weights before a save: %v", err)
	}
	f.finite = nil
	r.ledger.cfg.Model.Heads = 5
	testkit.MustFail(t, r.ledger.save(true), "heads 5")
	testkit.MustFail(t, r.ledger.checkSpace(), "heads 5")
	r.cfg.Model.Heads = 5
	testkit.MustFail(t, r.allocate(t.Context()), "heads 5")
}

package train

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// warming is a run of 60 updates, with 2 in each of its 30 epochs.
func warming(t *testing.T) Config {
	cfg := small(tiny(t, speak(t, babble(24, 4, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs, cfg.Optimizer.WarmupUpdates = 8, 2, 30, 1000
	cfg.Optimizer.LongWarmup = false
	return cfg
}

// A warm-up that is longer than all epochs is refused before anything is made, unless it is asked for.
func TestWarmupThatNeverEnds(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"the learning rate rises for 1000 updates (warmup_updates 1000), and training ends after 60, with the last of 30 epochs: " +
			"it gets only to 6 % of learning_rate; give --warmup_share 0.1 (6 updates), or --warmup_updates 20 or less, or --num_epochs 1500 or more, " +
			"or --long_warmup if this is meant": func(c *Config) {},
		"rises for 61 updates (warmup_updates 61), and training ends after 60, with the last of 30 epochs: it gets only to 98.4 % of": func(c *Config) { c.Optimizer.WarmupUpdates = 61 },
		"; give --warmup_share 0.1 (6 updates), or --warmup_updates 20 or less, or --long_warmup if this is meant":                    func(c *Config) { c.Optimizer.WarmupUpdates = math.MaxInt }, // no number of epochs is enough
		"; give --warmup_share 0.1 (1 update), or --warmup_updates 1, or --num_epochs 1500 or more":                                   func(c *Config) { c.Optimizer.NumEpochs = 1 },
	} {
		cfg := warming(t)
		change(&cfg)
		_, err := Run(t.Context(), cfg, Options{})
		testkit.MustFail(t, err, name)
		mustHave(t, cfg.Run.CheckpointDir)
	}
}

// What is no refusal may be a warning, once; a warm-up of a third of the run or less is none.
func TestLongWarmupIsWarnedOf(t *testing.T) {
	said := func(change func(c *Config)) string {
		t.Helper()
		cfg := warming(t)
		change(&cfg)
		var out bytes.Buffer
		start(t, cfg, &out)
		return out.String()
	}
	mustContainOnce(t, said(func(c *Config) { c.Optimizer.LongWarmup = true }), "WARNING: the learning rate rises for 1000 updates (warmup_updates 1000), "+
		"and training ends after 60: it gets only to 6 % of learning_rate; give --warmup_share 0.1 (6 updates), or --warmup_updates 20 or less, or --num_epochs 1500 or more\n")
	mustContainOnce(t, said(func(c *Config) { c.Optimizer.WarmupUpdates, c.Optimizer.MaxUpdates = 60, 59 }),
		"rises for 60 updates (warmup_updates 60), and training ends after 59: it gets only to 98.3 % of learning_rate; give --warmup_updates 19 or less, or train longer\n") // a place to stop at is no end, and a share of none
	mustContainOnce(t, said(func(c *Config) { c.Optimizer.WarmupUpdates = 21 }), "rises for 21 updates (warmup_updates 21), and training ends after 60: 35 % of the training")
	mustContainOnce(t, said(func(c *Config) { c.Optimizer.WarmupShare = 0.5 }), "rises for 30 updates (warmup_share 0.5), and training ends after 60: 50 % of the training")
	for name, change := range map[string]func(c *Config){
		"a third": func(c *Config) { c.Optimizer.WarmupUpdates = 20 },
		"share":   func(c *Config) { c.Optimizer.WarmupShare = 0.1 },
		"longer":  func(c *Config) { c.Optimizer.NumEpochs = 1500 },
		"profile": func(c *Config) { c.Run.ProfileSteps = 5 },
	} {
		if s := said(change); strings.Contains(s, "the learning rate rises") {
			t.Errorf("%s: it says\n%s", name, s)
		}
	}
	cfg := once(t, small(tiny(t, speak(t, babble(24, 4, 1)...))))
	cfg.Optimizer.MaxUpdates, cfg.Optimizer.LongWarmup, cfg.Optimizer.NumEpochs = 2, false, 1 // resumed: no refusal; and it has ended
	mustNotContain(t, mustRun(t, cfg), "the learning rate rises")
}

// A resumed run is warned as long as its warm-up isn't over.
func TestWarmupThatIsOver(t *testing.T) {
	cfg := warming(t)
	cfg.Optimizer.WarmupUpdates, cfg.Optimizer.MaxUpdates = 3, 2
	mustRun(t, cfg)
	cfg.Optimizer.MaxUpdates = 4
	mustContainOnce(t, mustRun(t, withResume(cfg)), "rises for 3 updates (warmup_updates 3), and training ends after 4: 75 % of the training")
	cfg.Optimizer.MaxUpdates = 5
	mustNotContain(t, mustRun(t, withResume(cfg)), "the learning rate rises")
}

// A share is one of the updates of all epochs; a run with it is, bit for bit, the one with as many updates. A resumed
// run keeps the warm-up that it began with, whatever the number of epochs is then, unless the share changes.
func TestWarmupShare(t *testing.T) {
	share := warming(t)
	share.Optimizer.WarmupShare, share.Optimizer.MaxUpdates = 0.1, 12
	mustRun(t, share)
	updates := elsewhere(t, share)
	updates.Optimizer.WarmupShare, updates.Optimizer.WarmupUpdates = 0, 6
	mustRun(t, updates)
	sameWeights(t, share, updates, 12)

	cut := elsewhere(t, share)
	cut.Optimizer.MaxUpdates = 4 // in the warm-up
	mustRun(t, cut)
	cut.Optimizer.MaxUpdates, cut.Optimizer.NumEpochs = 12, 300
	mustRun(t, withResume(cut))
	sameWeights(t, share, cut, 12)

	r := start(t, withResume(cut), nil)
	if w := r.ledger.state.Warmup; w.Updates != 6 {
		t.Errorf("resumed with more epochs: %+v, want 6 updates", w)
	}
	r.close()
	cut.Optimizer.WarmupShare = 0.2
	if w := start(t, withResume(cut), nil).ledger.state.Warmup; w.Updates != 120 {
		t.Errorf("resumed with another share: %+v, want 120 updates", w)
	}
	least := warming(t)
	least.Optimizer.WarmupShare = 1e-9
	if w := start(t, least, nil).ledger.state.Warmup; w.Updates != 1 {
		t.Errorf("of a share of next to nothing: %+v, want 1 update", w)
	}
}

// sameWeights holds two runs to the same weights and moments after an update.
func sameWeights(t *testing.T, a, b Config, update int) {
	t.Helper()
	model, moments, _ := readCheckpoint(t, a.Run.CheckpointDir, update)
	otherModel, otherMoments, _ := readCheckpoint(t, b.Run.CheckpointDir, update)
	if !bytes.Equal(model, otherModel) || !bytes.Equal(moments, otherMoments) {
		t.Errorf("weights or moments after update %d differ", update)
	}
}

package train

import (
	"bytes"
	"testing"
)

// A run that ends before its rate is at the peak says so, once; others don't.
func TestWarmupThatNeverEnds(t *testing.T) {
	manifest := speak(t, babble(24, 4, 1)...)
	said := func(change func(c *Config)) string {
		t.Helper()
		cfg := small(tiny(t, manifest))
		cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs, cfg.Optimizer.WarmupUpdates = 8, 2, 30, 1000
		change(&cfg)
		var out bytes.Buffer
		start(t, cfg, &out)
		return out.String()
	}
	mustContainOnce(t, said(func(*Config) {}), "WARNING: training ends after 60 updates, and the rate rises for 1000 (warmup_updates): "+
		"it reaches only 6 % of learning_rate; train longer, or set warmup_updates to 60 or less")
	mustContainOnce(t, said(func(c *Config) { c.Optimizer.WarmupUpdates = 61 }), "training ends after 60 updates")
	mustContainOnce(t, said(func(c *Config) { c.Optimizer.WarmupUpdates, c.Optimizer.MaxUpdates = 60, 59 }), "training ends after 59 updates")
	for name, change := range map[string]func(c *Config){
		"warm":    func(c *Config) { c.Optimizer.WarmupUpdates = 60 },
		"longer":  func(c *Config) { c.Optimizer.NumEpochs = 500 },
		"profile": func(c *Config) { c.Run.ProfileSteps = 5 },
	} {
		if s := said(change); bytes.Contains([]byte(s), []byte("warmup_updates")) {
			t.Errorf("%s: it says\n%s", name, s)
		}
	}
	cfg := once(t, small(tiny(t, manifest)))
	cfg.Optimizer.MaxUpdates = 2
	mustNotContain(t, mustRun(t, cfg), "warmup_updates") // it has ended already
}

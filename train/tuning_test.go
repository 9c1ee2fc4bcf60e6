package train

import (
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// A decoder without a share in the loss is warned of, unless it is frozen, as one that is kept for later.
func TestDecoderWithoutAShare(t *testing.T) {
	const warning = "WARNING: ctc_weight is 1: the decoder has no share in the loss, so its "
	for name, c := range map[string]struct {
		change func(c *Config)
		want   bool
	}{
		"ctc alone":     {func(c *Config) { c.Model.CTCWeight = 1 }, true},
		"in part":       {func(c *Config) { c.Model.CTCWeight, c.Optimizer.Freeze = 1, []string{"decoder.embed"} }, true},
		"frozen":        {func(c *Config) { c.Model.CTCWeight, c.Optimizer.Freeze = 1, []string{"decoder"} }, false},
		"no decoder":    {func(c *Config) { c.Model.CTCWeight, c.Model.DecoderLayers = 1, 0 }, false},
		"with a share":  {func(c *Config) { c.Model.CTCWeight = 0.99 }, false},
		"share of zero": {func(c *Config) { c.Model.CTCWeight, c.Model.DecoderLayers = 0, 0 }, false},
	} {
		cfg := small(tiny(t, speak(t, babble(4, 3, 1)...)))
		cfg.Model.DecoderLayers, cfg.Optimizer.MaxUpdates = 1, 1
		c.change(&cfg)
		if said := mustRun(t, cfg); strings.Contains(said, warning) != c.want {
			t.Errorf("%s: it says\n%s", name, said)
		}
	}
}

// Below a hundredth no speech is above the floor of energies.
func TestLeastSampleScale(t *testing.T) {
	cfg := Default()
	cfg.Data.SampleScale = 1. / 32768
	testkit.MustFail(t, cfg.Validate(), "sample_scale is 3.0517578125e-05, want 0.01 or more")
	cfg.Data.SampleScale = 0.01
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

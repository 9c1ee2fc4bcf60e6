package train

import (
	"bytes"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// In the first epochs augmentation is lighter: none at first. A run that is resumed in the middle of one is the run
// that was not. Memory was planned for sound at speed 1 too, which is the longest here.
func TestLightEpochsResume(t *testing.T) {
	cfg := tiny(t, speak(t, babble(23, 8, 1)...))
	cfg.Data.Speeds, cfg.Data.LightFirstEpochs, cfg.Optimizer.NumEpochs, cfg.Run.SaveEvery = []float64{1.2, 1.4}, 2, 3, 1000
	mustRun(t, cfg)
	cut := elsewhere(t, cfg)
	for _, until := range []int{4, 9, 14, 18} { // in the first epoch, in the second, in the third
		cut.Optimizer.MaxUpdates = until
		mustRun(t, withResume(cut))
	}
	cut.Optimizer.MaxUpdates = 0
	mustEqualRun(t, cut.Run.CheckpointDir, cfg.Run.CheckpointDir, 18)

	without := plain(cfg)
	without.Data.LightFirstEpochs = 0 // of nothing
	r, none := start(t, elsewhere(t, cfg), nil), start(t, elsewhere(t, without), nil)
	for k := range r.sets.loader.Windows() {
		light, at1 := r.sets.loader.Lengths(0, k, nil), none.sets.loader.Lengths(0, k, nil)
		for i := range light {
			if light[i] != at1[i] {
				t.Errorf("row %d of window %d has %+v, want %+v: there is no speed in the first light epoch", i, k, light[i], at1[i])
			}
		}
	}
}

// Epochs that are all light never have what the settings say, which is said; with one more they have. max_updates may
// end the training before num_epochs do: here an epoch is two updates.
func TestLightEpochsThatNeverEnd(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Data.LightFirstEpochs = 6
	for _, c := range []struct {
		epochs, updates int
		want            string
	}{
		{1, 0, "training has 1: in the last one it gets only to 0 % of its strength; train longer, or set light_first_epochs to 0\n"},
		{6, 0, "training has 6: in the last one it gets only to 83 % of its strength; train longer, or set light_first_epochs to 2\n"},
		{7, 0, ""},
		{6, 100, "training has 6: in the last one it gets only to 83 % of its strength; train longer, or set light_first_epochs to 2\n"},
		{20, 7, "training has 4 (max_updates): in the last one it gets only to 50 % of its strength; " +
			"train longer, or set light_first_epochs to 1, unless the run is to be resumed\n"},
		{20, 12, "training has 6 (max_updates): in the last one it gets only to 83 % of its strength; " +
			"train longer, or set light_first_epochs to 2, unless the run is to be resumed\n"},
		{20, 13, ""},
	} {
		cfg.Optimizer.NumEpochs, cfg.Optimizer.MaxUpdates = c.epochs, c.updates
		var said bytes.Buffer
		start(t, elsewhere(t, cfg), &said)
		if got := strings.Count(said.String(), "augmentation grows"); c.want == "" && got != 0 {
			t.Errorf("%d epochs, %d updates: it says\n%s", c.epochs, c.updates, said.String())
		} else if c.want != "" {
			mustContainOnce(t, said.String(), "WARNING: augmentation grows over 6 epochs (light_first_epochs), and "+c.want)
		}
	}
}

// Windows that were skipped gave no update: of 10 epochs of two windows, of which 3 are over with 2 updates, 8 updates
// more begin 4.
func TestBeginsAfterSkippedWindows(t *testing.T) {
	cfg := tiny(t, speak(t, babble(8, 4, 1)...))
	cfg.Optimizer.NumEpochs, cfg.Optimizer.MaxUpdates = 10, 10
	r := start(t, cfg, nil)
	for _, c := range []struct{ epoch, window, updates, skipped, max, want int }{
		{3, 0, 2, 4, 10, 7}, {3, 0, 2, 4, 9, 7}, {3, 0, 2, 4, 8, 6}, {3, 1, 2, 5, 3, 4}, {3, 1, 2, 5, 4, 5}, {3, 0, 2, 4, 16, 10}, {3, 0, 2, 4, 0, 10}, {0, 0, 0, 0, 10, 5},
	} {
		p := &r.ledger.state.Progress
		p.Epoch, p.Window, p.Updates, p.Skipped, r.cfg.Optimizer.MaxUpdates = c.epoch, c.window, c.updates, c.skipped, c.max
		if got := r.begins(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Where nothing is augmented nothing can grow.
func TestLightEpochsOfNothing(t *testing.T) {
	cfg := Default()
	cfg.Data.LightFirstEpochs, cfg.Data.SpecAugment = 2, false
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	cfg.Data.SpeedPerturb = false
	testkit.MustFail(t, cfg.Validate(), "light_first_epochs is 2, but no augmentation is on: there is nothing that could grow")
}

// Utterances that are made up for a plan come at speed 1 too where epochs are light.
func TestPlanOfLightEpochs(t *testing.T) {
	o := PlanOptions{Seconds: 3, TokensPerSecond: 10}
	fast := tiny(t, "")
	fast.Data.Speeds = []float64{1.5}
	light, usual := fast, fast
	light.Data.LightFirstEpochs, usual.Data.SpeedPerturb = 1, false
	arena := func(c Config) int64 { return mustPlan(t, c, o).AsSet.Arena }
	if a, b, c := arena(fast), arena(light), arena(usual); a >= b || b != c {
		t.Errorf("arenas of %d bytes at speed 1.5, %d in light epochs, %d at speed 1; want less, and twice the same", a, b, c)
	}
}

package train

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// follow gives a trend losses of windows of 5 to 15 s, in nats per second, and returns the updates at which it warns.
func follow(loss func(n int) float64, updates int) (t trend, warned []int) {
	draw := rand.New(rand.NewPCG(7, 7))
	for n := 1; n <= updates; n++ {
		seconds := 5 + 10*draw.Float64()
		if t.add(update.Outcome{Loss: loss(n) * seconds, Audio: seconds}, n) {
			warned = append(warned, n)
		}
	}
	return t, warned
}

// A loss that is twice its best for a while is told once; one that falls, wavers, starts high or is small is not.
func TestTrend(t *testing.T) {
	falling := func(n int) float64 { return 100*math.Exp(-float64(n)/50) + 5 }
	noise := rand.New(rand.NewPCG(1, 2))
	between := func(from, to int, high float64) func(n int) float64 {
		return func(n int) float64 {
			if n > from && n <= to {
				return high
			}
			return falling(n)
		}
	}
	for name, c := range map[string]struct {
		loss func(n int) float64
		want int // update of the warning, about; 0 for none
	}{
		"falls":            {falling, 0},
		"falls, noisy":     {func(n int) float64 { return falling(n) * (0.3 + 1.4*noise.Float64()) }, 0},
		"never falls":      {func(int) float64 { return 50 }, 0},
		"high for a while": {between(300, 330, 15), 0},
		"rises by half":    {func(n int) float64 { return falling(n) * (1 + 0.5*math.Min(1, float64(n)/500)) }, 0},
		"small":            {func(n int) float64 { return falling(n) - 4.9 + math.Max(0, float64(n-300)/300) }, 0},
		"rises in one":     {between(400, 1000, 500), 450},
		"rises slowly":     {func(n int) float64 { return falling(min(n, 300)) + math.Max(0, float64(n-300)/20) }, 480},
		"rises from 1 on":  {func(n int) float64 { return 20 + float64(n) }, 110},
	} {
		got, warned := follow(c.loss, 1000)
		if c.want == 0 && len(warned) > 0 || c.want > 0 && (len(warned) != 1 || math.Abs(float64(warned[0]-c.want)) > 20) {
			t.Errorf("%s: warned after %v, want one after about %d, and none for 0: %+v", name, warned, c.want, got)
		}
	}
}

// A rate that is far too high, in a real run. It is told once, also where the run is resumed between, and the state is
// that of the run that was not.
func TestDivergingIsSaid(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Optimizer.LearningRate, cfg.Optimizer.WarmupUpdates, cfg.Optimizer.GradClip = 1, 200, 1e6
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.LogEvery = 240, 60, 1000
	const warning = "WARNING: the training loss diverges: for 50 updates it has been at least twice its best ("
	said := mustRun(t, cfg)
	mustContainOnce(t, said, warning, "stop this run (Ctrl-C) and begin anew with a lower learning_rate (it is 1, after a warm-up of warmup_updates 200)")
	cut := elsewhere(t, cfg)
	all := ""
	for _, cut.Optimizer.MaxUpdates = range []int{60, 120, 180, 240} {
		all += mustRun(t, withResume(cut))
	}
	mustContainOnce(t, all, warning)
	_, _, want := readCheckpoint(t, cfg.Run.CheckpointDir, 240)
	_, _, got := readCheckpoint(t, cut.Run.CheckpointDir, 240)
	if !want.Trend.Said || got.Trend != want.Trend {
		t.Errorf("resumed: %+v, want %+v", got.Trend, want.Trend)
	}
	cut.Optimizer.MaxUpdates, cut.Optimizer.LearningRate = 241, 1e-3
	mustRun(t, withResume(cut))
	if _, _, anew := readCheckpoint(t, cut.Run.CheckpointDir, 241); anew.Trend.Count != 1 || anew.Trend.Said {
		t.Errorf("with another rate: %+v, want a new trend", anew.Trend)
	}
}

// A run that learns is not warned of, from its first update on.
func TestLearningIsNoDivergence(t *testing.T) {
	cfg := tiny(t, speak(t, babble(6, 4, 1)...))
	cfg.Optimizer.LearningRate, cfg.Optimizer.MaxUpdates, cfg.Optimizer.NumEpochs, cfg.Run.LogEvery = 1e-2, 100, 1000, 1000
	said := mustRun(t, cfg)
	if strings.Contains(said, "diverges") {
		t.Error(said)
	}
	testkit.MustContain(t, said, "max_updates 100 is reached")
}

package train

import (
	"bytes"
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

// A run at whose 30th update the best loss seems to have been a quarter of what it is, and which hardly moves from
// there on. It is told once, also where the run is resumed between, and the state is that of the run that was not.
// (What a rate does that is far too high depends on the last bits, and so on the processor.)
func TestDivergingIsSaid(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Optimizer.LearningRate, cfg.Run.SaveEvery, cfg.Run.LogEvery = 1e-6, 30, 1000
	part := func(cfg Config, until int) string {
		cfg.Optimizer.MaxUpdates = until
		var said bytes.Buffer
		r := start(t, cfg, &said)
		r.hook = atUpdate(30, func() { r.ledger.state.Trend.Best = r.ledger.state.Trend.mean() / 4 })
		mustEnd(t, r)
		r.close()
		return said.String()
	}
	const warning = "WARNING: the training loss diverges: for 50 updates it has been at least twice its best ("
	mustContainOnce(t, part(cfg, 120), warning, "stop this run (Ctrl-C) and begin anew with a lower learning_rate (it is 1e-06, after a warm-up of ")
	cut := elsewhere(t, cfg)
	all := ""
	for _, until := range []int{30, 60, 90, 120} {
		all += part(withResume(cut), until)
	}
	mustContainOnce(t, all, warning)
	_, _, want := readCheckpoint(t, cfg.Run.CheckpointDir, 120)
	_, _, got := readCheckpoint(t, cut.Run.CheckpointDir, 120)
	if !want.Trend.Said || got.Trend != want.Trend {
		t.Errorf("resumed: %+v, want %+v", got.Trend, want.Trend)
	}
	cut.Optimizer.LearningRate = 1e-7
	part(withResume(cut), 121)
	if _, _, on := readCheckpoint(t, cut.Run.CheckpointDir, 121); on.Trend.Best != want.Trend.Best || on.Trend.High != 1 || on.Trend.Said {
		t.Errorf("with another rate: %+v, want one that warns again of what doesn't come back to %g", on.Trend, want.Trend.Best)
	}
	cut.Data.TimeMasks = 1
	part(withResume(cut), 122)
	if _, _, anew := readCheckpoint(t, cut.Run.CheckpointDir, 122); anew.Trend.Count != 1 {
		t.Errorf("with other masks: %+v, want a new trend", anew.Trend)
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

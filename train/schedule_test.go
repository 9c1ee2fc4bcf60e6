package train

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// scheduled is a run of twelve updates, with three in each epoch, that warms up over four.
func scheduled(t *testing.T, kind string) Config {
	cfg := small(tiny(t, speak(t, babble(12, 4, 1)...)))
	cfg.Optimizer.NumEpochs, cfg.Optimizer.WarmupUpdates, cfg.Optimizer.LongWarmup, cfg.Optimizer.Schedule = 4, 4, false, kind
	return cfg
}

// With each schedule a run that stops on the way up or down and goes on is, bit for bit, the one that didn't stop; and
// no two schedules are the same.
func TestScheduleResumes(t *testing.T) {
	seen := map[string]string{}
	for _, kind := range []string{update.Noam, update.Cosine, update.Linear, update.OneCycle, update.Constant} {
		straight := scheduled(t, kind)
		mustRun(t, straight)
		cut := elsewhere(t, straight)
		for _, stop := range []int{2, 7, 0} {
			cut.Optimizer.MaxUpdates = stop
			said := mustRun(t, withResume(cut))
			mustNotContain(t, said, "another schedule")
		}
		sameWeights(t, straight, cut, 12)
		model, _, s := readCheckpoint(t, cut.Run.CheckpointDir, 12)
		if other, ok := seen[string(model)]; ok {
			t.Errorf("%s and %s have the same weights", kind, other)
		}
		seen[string(model)] = kind
		if want := (update.Schedule{Kind: kind, Peak: 0.001, Warmup: 4, Total: s.Schedule.Total}); s.Schedule != want || s.Schedule.Ends() != (s.Schedule.Total == 12) {
			t.Errorf("the state has %+v", s.Schedule)
		}
	}
}

// Updates have the rates of the schedule, as metrics have them.
func TestScheduleInMetrics(t *testing.T) {
	cfg := scheduled(t, update.Linear)
	cfg.Optimizer.FinalRate = 0.5
	testkit.MustContain(t, mustRun(t, cfg), "learning rate: linear, peak 0.001 at update 4, 0.0005 at update 12\n")
	var rates []string
	for _, r := range records(t, cfg.Run.CheckpointDir) {
		if r.Event == "update" {
			rates = append(rates, fmt.Sprintf("%.4g", 1000*r.Rate))
		}
	}
	if want := []string{"0.25", "0.5", "0.75", "1", "0.9375", "0.875", "0.8125", "0.75", "0.6875", "0.625", "0.5625", "0.5"}; !slices.Equal(rates, want) {
		t.Errorf("rates are %v, want %v thousandths", rates, want)
	}
}

// Where max_updates ends training before the schedule ends, it is said at which rate; a schedule without an end has
// nothing to be said, and one whose rate still rises has its own warning.
func TestScheduleThatIsCutShort(t *testing.T) {
	said := func(kind string, updates int) string {
		cfg := scheduled(t, kind)
		cfg.Optimizer.MaxUpdates = updates
		var out bytes.Buffer
		start(t, cfg, &out)
		return out.String()
	}
	mustContainOnce(t, said(update.Linear, 6), "WARNING: training ends after 6 updates (max_updates), and the learning rate (schedule linear) falls until update 12, "+
		"with the last of 4 epochs: it will stand at 0.00075, 75 % of learning_rate; set num_epochs to 2, or leave max_updates out, unless the run is to be resumed\n")
	mustContainOnce(t, said(update.Cosine, 10), "training ends after 10 updates (max_updates), and the learning rate (schedule cosine) falls until update 12",
		"it will stand at 0.000146, 14.6 % of learning_rate; leave max_updates out, unless the run is to be resumed\n")
	mustContainOnce(t, said(update.Linear, 4), "stand at 0.001, 100 % of learning_rate")
	mustContainOnce(t, said(update.OneCycle, 8), "(schedule one_cycle)", "stand at 0.0005, 50 %")
	for _, s := range []string{said(update.Linear, 12), said(update.Linear, 3), said(update.Noam, 6), said(update.Constant, 6)} {
		mustNotContain(t, s, "falls until")
	}
}

// A schedule ends with the run that it is of: with other num_epochs, other windows or another kind the rest of a
// resumed run follows it to its end there, and it is said what that makes of the rate.
func TestScheduleOfAnotherLength(t *testing.T) {
	begun := scheduled(t, update.Linear)
	begun.Optimizer.MaxUpdates = 6 // half a way, two epochs
	mustRun(t, begun)
	for name, c := range map[string]struct {
		change func(o *OptimizerConfig)
		total  int
		want   string
	}{
		"longer":         {func(o *OptimizerConfig) { o.NumEpochs = 8 }, 24, "(linear, peak 0.001 at update 4, 0 at update 12): update 7 has 0.00085, and would have had 0.000625\n"},
		"larger windows": {func(o *OptimizerConfig) { o.GradAccum = 6 }, 8, "update 7 has 0.00025, and would have had 0.000625\n"}, // 2 windows to come
		"another kind":   {func(o *OptimizerConfig) { o.Schedule = update.Constant }, 0, "update 7 has 0.001, and would have had 0.000625\n"},
		"another rate":   {func(o *OptimizerConfig) { o.LearningRate = 2e-3 }, 12, "update 7 has 0.00125, and would have had 0.000625\n"},
	} {
		cfg := withResume(begun)
		cfg.Optimizer.MaxUpdates = 0
		c.change(&cfg.Optimizer)
		var said bytes.Buffer
		r := start(t, cfg, &said)
		mustContainOnce(t, said.String(), "NOTE: the learning rate follows another schedule than in the checkpoint ", c.want)
		if s := r.ledger.state.Schedule; s.Total != c.total {
			t.Errorf("%s: it is %+v, want an end at update %d", name, s, c.total)
		} else if n := r.total(); c.total > 0 && n != c.total {
			t.Errorf("%s: training ends after %d updates, want %d", name, n, c.total)
		}
		r.close()
	}
	cut := withResume(begun)
	cut.Optimizer.GradAccum, cut.Optimizer.MaxUpdates = 6, 7 // the first of the 2 windows to come
	var said bytes.Buffer
	start(t, cut, &said).close()
	mustContainOnce(t, said.String(), "training ends after 7 updates (max_updates), and the learning rate (schedule linear) falls until update 8, "+
		"with the last of 4 epochs: it will stand at 0.00025, 25 % of learning_rate; set num_epochs to 3, or leave max_updates out")
	r := start(t, withResume(begun), nil)
	r.ledger.state.Progress.Skipped = 2 // of the windows that were done
	r.ledger.state.Progress.Updates = 4
	if n := r.last(); n != 12 {
		t.Errorf("with two windows skipped the last update is %d, want that of the run without", n)
	}
}

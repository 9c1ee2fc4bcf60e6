package train

import (
	"strings"
	"testing"

	"konkanitrain/recognize"
)

// judged is a ledger that has judged these scores, each of an update: word error rate, character error rate, loss. It
// returns what was said of each, "" for nothing, "b" for the best and "d" for a best one by less than early_stop_delta.
func judged(t *testing.T, cfg Config, scores ...[3]float64) (*ledger, string) {
	t.Helper()
	l := newLedger(cfg, newReporter(nil))
	var marks []string
	for i, s := range scores {
		l.state.Progress.Updates = i + 1
		mark := l.judge(&recognize.Evaluation{WER: s[0], CER: s[1], Loss: recognize.Nats(s[2])})
		marks = append(marks, map[string]string{
			"": "-", "  (best so far)": "b", "  (best so far, by less than early_stop_delta)": "d",
		}[mark])
	}
	return l, strings.Join(marks, " ")
}

// What is best follows best_by, and early_stop with it.
func TestBestBy(t *testing.T) {
	scores := [][3]float64{{1, 0.97, 40}, {0.985, 0.95, 35}, {0.99, 0.8, 30}, {0.995, 0.61, 31}, {0.89, 0.7, 29}, {0.88, 0.6, 33}}
	for by, want := range map[string]struct {
		marks string
		best  int
		stale int
	}{
		"auto": {"b b b b b b", 6, 0}, "wer": {"b b - - b b", 6, 0}, "cer": {"b b b b - b", 6, 0}, "loss": {"b b b - b -", 5, 1},
	} {
		cfg := Default()
		cfg.Run.BestBy = by
		l, marks := judged(t, cfg, scores...)
		if marks != want.marks || l.state.BestStep != want.best || l.state.Stale != want.stale {
			t.Errorf("%s: %s, best %d, stale %d; want %+v", by, marks, l.state.BestStep, l.state.Stale, want)
		}
	}
}

// An improvement smaller than early_stop_delta makes the best checkpoint, but training ends without a larger one; small
// ones add up to one that counts.
func TestEarlyStopDelta(t *testing.T) {
	cfg := Default()
	cfg.Run.EarlyStop, cfg.Run.EarlyStopDelta = 3, 0.5
	l, marks := judged(t, cfg, [3]float64{0.5, 0.2, 1}, [3]float64{0.497, 0.2, 1}, [3]float64{0.495, 0.2, 1}, [3]float64{0.494, 0.2, 1})
	if marks != "b d b d" || l.state.Stale != 1 || l.end() != "" {
		t.Errorf("%s, stale %d, end %q", marks, l.state.Stale, l.end())
	}
	l, marks = judged(t, cfg, [3]float64{0.5, 0.2, 1}, [3]float64{0.499, 0.2, 1}, [3]float64{0.498, 0.2, 1}, [3]float64{0.497, 0.2, 1})
	if want := "no score better by 0.5 (early_stop_delta) in 3 validations in a row (early_stop 3)"; marks != "b d d d" || l.state.BestStep != 4 || l.end() != want {
		t.Errorf("%s, best %d, end %q; want %q", marks, l.state.BestStep, l.end(), want)
	}
	// A checkpoint from before the setting has its best score only: that is what the first one is measured by.
	l.state.Reference, l.state.Stale = nil, 0
	l.judge(&recognize.Evaluation{WER: 0.493, CER: 0.2})
	if l.state.Stale != 1 || l.state.Reference == nil || l.state.Reference.WER != 0.497 {
		t.Errorf("stale %d, reference %v: want one more, by the best", l.state.Stale, l.state.Reference)
	}
	cfg.Run.EarlyStop = 0
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "early_stop_delta is 0.5, but early_stop is off") {
		t.Errorf("%v", err)
	}
}

// The best by another measure is chosen anew from where a run goes on, and a run that was interrupted has the same best
// and waits as long as one that was not.
func TestBestByIsResumed(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Data.ValManifest, cfg.Run.EvalEvery, cfg.Run.SaveEvery, cfg.Run.KeepLast = cfg.Data.TrainManifest, 1, 1, 20
	cfg.Run.BestBy, cfg.Run.EarlyStop, cfg.Run.EarlyStopDelta, cfg.Optimizer.MaxUpdates = "loss", 100, 0.05, 8
	cfg.Optimizer.LearningRate, cfg.Optimizer.WarmupUpdates = 3e-3, 1
	mustRun(t, cfg)
	cut := elsewhere(t, cfg)
	cut.Optimizer.MaxUpdates = 5
	mustRun(t, cut)
	cut.Optimizer.MaxUpdates = 8
	mustRun(t, withResume(cut))
	_, _, want := readCheckpoint(t, cfg.Run.CheckpointDir, 8)
	_, _, got := readCheckpoint(t, cut.Run.CheckpointDir, 8)
	if want.Reference == nil || got.BestStep != want.BestStep || got.Stale != want.Stale || got.Reference.Loss != want.Reference.Loss {
		t.Errorf("resumed: best %d, stale %d, reference %v; want %d, %d, %v", got.BestStep, got.Stale, got.Reference, want.BestStep, want.Stale, want.Reference)
	}
	said := cut
	said.Run.BestBy, said.Optimizer.MaxUpdates = "cer", 9
	mustContainOnce(t, mustRun(t, withResume(said)), "NOTE: a setting differs from the checkpoint's (saved / now): best_by: \"loss\" / \"cer\"")
}

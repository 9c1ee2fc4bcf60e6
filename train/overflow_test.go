package train

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
)

// scaleLine is one event in the life of a loss scale: "g" a finite gradient, "o" an overflow.
type scaleLine struct {
	Event      string
	Scale      float64
	GoodInARow int `json:"good_in_a_row"`
	Updates    int
	Stop       bool
}

// play holds a scale to a list of events.
func play(t *testing.T, s LossScale, lines []scaleLine) {
	t.Helper()
	updates := lines[0].Updates
	if lines[0].Event == "g" {
		updates--
	}
	for i, line := range lines {
		var err error
		if line.Event == "g" {
			s.Succeeded()
			updates++
		} else {
			err = s.Overflowed()
		}
		if s.Scale != line.Scale || s.Good != line.GoodInARow || updates != line.Updates || (err != nil) != line.Stop {
			t.Fatalf("event %d (%s): %+v after %d updates, error %v, want %+v", i+1, line.Event, s, updates, err, line)
		}
		if err != nil {
			mustContain(t, err.Error(), "loss scale", "learning_rate")
		}
	}
}

func TestLossScale(t *testing.T) {
	var example struct {
		Mixed, Growth, Collapse []scaleLine
		CollapseOverflows       int `json:"collapse_overflows"`
	}
	numbers(t, "loss_scale.json", &example)
	t.Run("mixed", func(t *testing.T) { play(t, NewLossScale(), example.Mixed) })
	t.Run("growth", func(t *testing.T) { play(t, LossScale{Scale: 1024, GrowEvery: 3}, example.Growth) })
	t.Run("collapse", func(t *testing.T) {
		s := NewLossScale()
		for range example.CollapseOverflows - len(example.Collapse) {
			if err := s.Overflowed(); err != nil {
				t.Fatal(err)
			}
		}
		play(t, s, example.Collapse)
	})
}

// Three overflows below a scale of 1 are an error only if they come one after the other.
func TestLossScaleCountsOverflowsInARow(t *testing.T) {
	s := LossScale{Scale: 1, GrowEvery: 2000}
	for i, c := range []struct {
		overflow bool
		low      int
		stop     bool
	}{{true, 1, false}, {true, 2, false}, {false, 0, false}, {true, 1, false}, {true, 2, false}, {true, 3, true}} {
		var err error
		if c.overflow {
			err = s.Overflowed()
		} else {
			s.Succeeded()
		}
		if s.Low != c.low || (err != nil) != c.stop {
			t.Fatalf("event %d: %+v, error %v, want %+v", i+1, s, err, c)
		}
	}
}

// half is a run in half precision, with its first window.
func half(t *testing.T, out *bytes.Buffer) (*trainer, *data.Window) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.FP16 = true
	run := start(t, cfg, out)
	return run, windows(t, run, 1)[0]
}

// An overflow leaves weights, moments, rate and count as they are, bit for bit; good windows go on.
func TestOverflowChangesNothing(t *testing.T) {
	var example struct{ Mixed []scaleLine }
	numbers(t, "loss_scale.json", &example)
	var out bytes.Buffer
	run, w := half(t, &out)
	good := w.Examples[0].Features[5]
	for i, line := range example.Mixed {
		before := snapshot(run)
		w.Examples[0].Features[5] = good
		if line.Event == "o" {
			w.Examples[0].Features[5] = float32(math.Inf(1))
		}
		o, err := run.update(w)
		if err != nil {
			t.Fatal(err)
		}
		if s := run.state.LossScale; s.Scale != line.Scale || s.Good != line.GoodInARow || run.optimizer.Updates != line.Updates {
			t.Errorf("event %d (%s): %+v after %d updates, want %+v", i+1, line.Event, s, run.optimizer.Updates, line)
		}
		if line.Event == "o" {
			if !slices.Equal(before, snapshot(run)) {
				t.Errorf("event %d: an overflow changed weights, moments or the learning rate", i+1)
			}
			mustContain(t, o.skipped, w.Examples[0].Utt.ID)
		}
	}
	if run.state.Progress.Skipped != 4 {
		t.Errorf("%d windows were counted as skipped, want 4", run.state.Progress.Skipped)
	}
	mustContain(t, out.String(), "the loss scale is 4096 now")
}

// snapshot is every number that an update may change.
func snapshot(run *trainer) []float32 {
	all := slices.Clone(run.weights.Floats())
	for _, m := range run.optimizer.moments {
		all = append(all, m.Floats()...)
	}
	return append(all, float32(run.optimizer.LR), float32(run.optimizer.Updates))
}

// The loss scale divides out: half precision with any scale gives the same norm, near that of full precision.
func TestLossScaleDividesOut(t *testing.T) {
	var norms []float64
	for _, scale := range []float64{0, 1, 65536} {
		cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
		cfg.Run.FP16 = scale > 0
		run := start(t, cfg, nil)
		run.state.LossScale.Scale = scale
		out, err := run.update(windows(t, run, 1)[0])
		if err != nil {
			t.Fatal(err)
		}
		norms = append(norms, out.norm)
	}
	// A power of two moves exponents only; activations stored in float16 have 11 bits.
	if norms[1] != norms[2] || !(math.Abs(norms[1]/norms[0]-1) <= 1e-2) {
		t.Errorf("gradient norms are %v in full precision, at scale 1 and at scale 65536", norms)
	}
}

// Ten windows in a row with a gradient that is not finite stop the run, and the utterances are named.
func TestManyOverflowsStopTheRun(t *testing.T) {
	var out bytes.Buffer
	run := start(t, plain(tiny(t, speak(t, babble(8, 4, 1)...))), &out)
	w := windows(t, run, 2)
	bad := w[1].Examples[2].Features
	keep := bad[7]
	nan := float32(math.NaN())
	for i := range 9 {
		bad[7] = nan
		if o, err := run.update(w[1]); err != nil || o.skipped == "" {
			t.Fatalf("window %d: %+v, %v", i, o, err)
		}
	}
	if _, err := run.update(w[0]); err != nil || run.optimizer.Updates != 1 || run.state.Progress.InARow != 0 {
		t.Fatalf("a good window between: %v, %+v", err, run.state.Progress)
	}
	var err error
	for range 10 {
		bad[7] = nan
		if err != nil {
			t.Fatalf("stopped too early: %v", err)
		}
		_, err = run.update(w[1])
	}
	bad[7] = keep
	if err == nil {
		t.Fatal("ten windows without an update didn't stop the run")
	}
	mustContain(t, err.Error(), "10 windows in a row", w[1].Examples[2].Utt.ID, "learning_rate")
	if p := run.state.Progress; p.Skipped != 19 || run.optimizer.Updates != 1 {
		t.Errorf("%+v, %d updates", p, run.optimizer.Updates)
	}
	mustContain(t, out.String(), "no update: the loss is not finite for "+w[1].Examples[2].Utt.ID)
}

// A record of a run with skipped windows can be written: JSON knows no NaN.
func TestMetricsAfterAnOverflow(t *testing.T) {
	run, w := half(t, &bytes.Buffer{})
	w.Examples[0].Features[5] = float32(math.NaN())
	out, err := run.update(w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(updateMetrics{Loss: out.loss, CTC: out.ctc, CE: out.ce}); err != nil {
		t.Error(err)
	}
}

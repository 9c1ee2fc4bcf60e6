package train

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// Ten windows in a row with a gradient that is not finite stop the run, and the utterances are named. A good one
// between begins the count anew.
func TestManyWindowsWithoutAnUpdate(t *testing.T) {
	var out bytes.Buffer
	r := start(t, small(tiny(t, speak(t, babble(8, 4, 1)...))), &out)
	w := windows(t, r, 2)
	good, bad := w[0], w[1]
	id := bad.Examples[2].Utt.ID
	bad.Examples[2] = allNaN(bad.Examples[2])
	for i := range 9 {
		before := everything(t, r)
		if o, err := r.window(bad); err != nil || o.Skipped != update.NotFiniteGradient {
			t.Fatalf("window %d: %+v, %v", i, o, err)
		}
		if !slices.Equal(before, everything(t, r)) {
			t.Errorf("window %d changed weights, moments, rate or count", i)
		}
	}
	if _, err := r.window(good); err != nil || r.updater.Updates != 1 || r.ledger.state.Progress.InARow != 0 {
		t.Fatalf("a good window between: %v, %+v", err, r.ledger.state.Progress)
	}
	testkit.MustContain(t, out.String(), "WARNING: window 2 of epoch 1: no update: the loss is not finite for "+id+"\n")
	var err error
	for range 10 {
		if err != nil {
			t.Fatalf("stopped too early: %v", err)
		}
		_, err = r.window(bad)
	}
	testkit.MustFail(t, err, "10 windows in a row gave no update, the last because the loss is not finite for "+id+"; their utterances: ", id, "learning_rate")
	if p := r.ledger.state.Progress; p.Skipped != 19 || p.InARow != 10 || r.updater.Updates != 1 {
		t.Errorf("%+v, %d updates", p, r.updater.Updates)
	}
	if got := r.skipped.suspects; len(got) != 4 { // those before the good window are not
		t.Errorf("suspects: %v", got)
	}
}

// In half precision the loss scale takes what overflows upon itself: it is said and counted, and no reason to stop. A
// record of such windows can be written: JSON knows no NaN.
func TestOverflowInHalfPrecision(t *testing.T) {
	var out bytes.Buffer
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.FP16, cfg.Optimizer.MaxUpdates = true, 2
	r := start(t, cfg, &out)
	f := intercept(r)
	f.overflow = true
	windows := 0
	r.hook = func(int) {
		windows++
		f.overflow = windows < 4 // two whole epochs of two windows
	}
	mustLoop(t, r)
	p := r.ledger.state.Progress
	if p.Skipped != 4 || p.InARow != 0 || r.updater.Updates != 2 || p.Epoch != 3 || p.Window != 0 || r.updater.LossScale.Scale != 4096 {
		t.Errorf("%+v, %d updates, scale %v", p, r.updater.Updates, r.updater.LossScale)
	}
	mustContainOnce(t, out.String(), "window 1 of epoch 1: no update: its gradient is not finite; the loss scale is 32768 now",
		"window 2 of epoch 2: no update: its gradient is not finite; the loss scale is 4096 now")
	mustNotContain(t, out.String(), "WARNING: window")
	for _, m := range records(t, cfg.Run.CheckpointDir) {
		if m.Event == "update" && (m.LossScale != 4096 || m.Skipped != 4 || !(m.Loss > 0)) {
			t.Errorf("%+v", m)
		}
	}
}

// An epoch without a single update ends the run with an error, at its last window, and leaves no checkpoint.
func TestNothingTrained(t *testing.T) {
	lines := babble(5, 3, 1)
	cfg := small(tiny(t, speakSome(t, lines, 0, 1, 2, 3, 4)))
	cfg.Optimizer.NumEpochs = 3
	var said bytes.Buffer
	result, err := Run(t.Context(), cfg, Options{Out: &said})
	testkit.MustFail(t, err, "epoch 1 gave no update at all, the last window because none of its files can be read; its utterances: ", "utt04", "look at these files")
	if result == nil || result.Updates != 0 || result.Checkpoint != "" {
		t.Errorf("%+v", result)
	}
	mustNotContain(t, said.String(), "training has ended")
	mustHave(t, cfg.Run.CheckpointDir)

	// Texts that the only speed makes longer than their sound are learned at speed 1.
	tight := small(tiny(t, speak(t, spoken{id: "a", text: "abababab", samples: 32 * 160}, spoken{id: "b", text: "babababa", samples: 32 * 160})))
	tight.Data.SpeedPerturb, tight.Data.Speeds = true, []float64{1.25}
	tight.Optimizer.NumEpochs = 3
	if result, err = Run(t.Context(), tight, Options{}); err != nil || result.Updates != 3 {
		t.Errorf("%+v: %v", result, err)
	}
}

// One good window is enough for an epoch, also one that an earlier session has made, and each epoch counts for itself.
func TestEpochsWithFewUpdates(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates = 1
	mustRun(t, cfg)
	cfg = withResume(cfg)
	cfg.Optimizer.MaxUpdates = 0
	r := start(t, cfg, nil)
	w := windows(t, r, 4)
	spoilt := func(w *data.Window) *data.Window {
		for i, e := range w.Examples {
			w.Examples[i] = allNaN(e)
		}
		return w
	}
	if _, err := r.window(spoilt(w[1])); err != nil { // the rest of epoch 1
		t.Errorf("the first window was of an earlier session: %v", err)
	}
	if _, err := r.window(w[2]); err != nil {
		t.Fatal(err)
	}
	if _, err := r.window(spoilt(w[3])); err != nil {
		t.Errorf("epoch 2 has an update: %v", err)
	}
	for _, k := range []int{0, 1} {
		w[k].Epoch = 2
	}
	if _, err := r.window(spoilt(w[0])); err != nil {
		t.Fatal(err)
	}
	_, err := r.window(w[1])
	testkit.MustFail(t, err, "epoch 3 gave no update at all")
}

// What is counted of a window, and what is said of one in which CTC can learn nothing. A decoder does learn from it.
func TestCountersOfBadUtterances(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	for decoder, updates := range []int{0, 1} {
		var said bytes.Buffer
		cfg := plain(tiny(t, manifest))
		cfg.Model.DecoderLayers = decoder
		r := start(t, cfg, &said)
		w := windows(t, r, 1)[0]
		w.Examples = []*data.Example{noise(1, 30, 20, tokensFor(20)...), noise(2, 20, 20, tokensFor(30)...)}
		before := everything(t, r)
		out, err := r.window(w)
		if err != nil || r.updater.Updates != updates || out.Infeasible != 2 {
			t.Errorf("%d decoder layers: %+v, %v, %d updates", decoder, out, err, r.updater.Updates)
		}
		if p := r.ledger.state.Progress; p.Infeasible != 2 || p.Utterances != 2 || p.Failed != 0 || p.Skipped != 1-updates || p.Updates != updates {
			t.Errorf("%+v", p)
		}
		if decoder == 0 {
			testkit.MustContain(t, said.String(), "WARNING: window 1 of epoch 1: no update: all of its utterances have more characters than encoder frames")
			if !slices.Equal(before, everything(t, r)) {
				t.Error("it changed something all the same")
			}
		}
	}
}

// A file that goes bad during a run is named and left out; the others of its window train.
func TestFileThatGoesBad(t *testing.T) {
	var said bytes.Buffer
	manifest := speak(t, babble(4, 4, 1)...)
	r := start(t, small(tiny(t, manifest)), &said)
	spoil(t, manifest, "002.wav")
	out, err := r.window(windows(t, r, 1)[0])
	if p := r.ledger.state.Progress; err != nil || out.Utterances != 3 || p.Failed != 1 || p.Utterances != 3 || r.updater.Updates != 1 {
		t.Fatalf("%+v, %v, %+v", out, err, p)
	}
	mustContainOnce(t, said.String(), fmt.Sprintf("WARNING: left out: utt02 (%s, line 3): ", manifest), filepath.Join(filepath.Dir(manifest), "002.wav"))
}

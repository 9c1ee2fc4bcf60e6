package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/internal/rangetest"
	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// findingIn is a range test on a network that takes a millisecond an update. What ends training doesn't end it.
func findingIn(t *testing.T) Config {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.FindLR, cfg.Run.LogEvery = true, 100
	cfg.Optimizer.NumEpochs, cfg.Optimizer.MaxUpdates, cfg.Optimizer.WarmupUpdates, cfg.Optimizer.LongWarmup = 1, 3, 1000, false
	return cfg
}

// foundIn reads what a range test has written.
func foundIn(t *testing.T, dir string) (r rangetest.Result) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, findJSON))), &r); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, readFile(t, filepath.Join(dir, findPage)), "<!doctype html>", r.End)
	return r
}

// filesIn are the files in a folder and below, with what they hold.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[path] = readFile(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The test has its own rates and its own end, whatever num_epochs, max_updates and the warm-up are; it shows and writes
// what it has found, and nothing else.
func TestFindLR(t *testing.T) {
	cfg := findingIn(t)
	said := mustRun(t, cfg)
	r := foundIn(t, cfg.Run.CheckpointDir)
	testkit.MustContain(t, said, "learning rate range test from new weights: ", r.Verdict, "written: "+filepath.Join(cfg.Run.CheckpointDir, findPage), "update 100  epoch 50/100")
	mustNotContain(t, said, "diverges", "the learning rate rises", "saved", "performance")
	if r.Updates < 100 || r.Updates < rangetest.Updates && r.End == rangetest.Complete {
		t.Errorf("%d updates, and then %s", r.Updates, r.End)
	}
	for i, rate := range r.Rates {
		if rate != rangetest.Rate(i+1) {
			t.Fatalf("update %d has the rate %v, want %v", i+1, rate, rangetest.Rate(i+1))
		}
	}
	want := []string{filepath.Join(cfg.Run.CheckpointDir, findPage), filepath.Join(cfg.Run.CheckpointDir, findJSON)}
	if got := slices.Sorted(maps.Keys(filesIn(t, cfg.Run.CheckpointDir))); !slices.Equal(got, want) {
		t.Errorf("it left %v, want %v", got, want)
	}
}

// Its updates are those of training: the same windows, and the same losses where the rate is the same.
func TestFindLRTrains(t *testing.T) {
	cfg := findingIn(t)
	usual := elsewhere(t, cfg)
	usual.Run.FindLR, usual.Optimizer.LearningRate, usual.Optimizer.WarmupUpdates, usual.Optimizer.Schedule = false, rangetest.First, 1, update.Constant
	a, b := start(t, cfg, nil), start(t, usual, nil)
	for k, w := range windows(t, b, 2) { // the second loss is that after one update
		got, err1 := a.window(w)
		want, err2 := b.window(w)
		if err1 != nil || err2 != nil || got.Loss != want.Loss || a.finding.test.Points[k].Loss != want.Loss || a.finding.test.Points[k].Audio != want.Audio {
			t.Errorf("update %d: %+v, %v, want %+v, %v", k+1, got, err1, want, err2)
		}
	}
}

// From a checkpoint it starts with its weights, also where training has ended, and leaves it as it is: the run goes on
// as if there had been none.
func TestFindLRFromACheckpoint(t *testing.T) {
	cfg := once(t, plain(tiny(t, speak(t, babble(8, 4, 1)...))))
	straight := elsewhere(t, cfg)
	straight.Run.Resume, straight.Optimizer.MaxUpdates = "", 4
	mustRun(t, straight)
	before := filesIn(t, cfg.Run.CheckpointDir)
	test := cfg
	test.Run.FindLR, test.Optimizer.MaxUpdates, test.Run.LogDir = true, 2, filepath.Join(t.TempDir(), "logs")
	r, err := setUp(t.Context(), test, Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(cfg.Run.CheckpointDir, "step-00000002")
	ctx, stop := context.WithCancel(t.Context())
	r.hook = atUpdate(12, stop)
	if err := r.loop(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.close()
	if f := foundIn(t, test.Run.LogDir); f.Start != first || f.Updates != 10 || f.Rates[0] != rangetest.First {
		t.Errorf("it began with %s and made %d updates, the first with %v", f.Start, f.Updates, f.Rates[0])
	}
	if after := filesIn(t, cfg.Run.CheckpointDir); !maps.Equal(before, after) {
		t.Errorf("it changed the folder: %v, %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	cfg.Optimizer.MaxUpdates = 4
	mustRun(t, cfg)
	sameWeights(t, straight, cfg, 4)

	from := findingIn(t)
	from.Model, from.Data = cfg.Model, cfg.Data
	from.Run.InitFrom = first
	ctx, stop = context.WithCancel(t.Context())
	r = start(t, from, nil)
	r.hook = atUpdate(1, stop)
	if err := r.loop(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if f := foundIn(t, from.Run.CheckpointDir); f.Start != first || f.Updates != 1 {
		t.Errorf("it began with %s and made %d updates", f.Start, f.Updates)
	}
}

// Stopped, it shows what it has, and before its first update it leaves nothing. Nothing is said to be saved.
func TestFindLRInterrupted(t *testing.T) {
	for updates, want := range map[int]string{0: "no update (it was interrupted)\n0 of 200 updates were made", 30: "30 updates, with rates from 1e-06 to 7.5e-06 (it was interrupted)\n  rate "} {
		cfg := findingIn(t)
		ctx, stop := context.WithCancel(t.Context())
		var said bytes.Buffer
		r := start(t, cfg, &said)
		r.hook = func(update int) {
			if update == updates {
				stop()
			}
		}
		if updates == 0 {
			stop()
		}
		if err := r.loop(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrInterrupted) {
			t.Errorf("%d updates: %v", updates, err)
		}
		testkit.MustContain(t, said.String(), want)
		if updates == 0 {
			mustNotContain(t, said.String(), "written")
			if n := len(filesIn(t, cfg.Run.CheckpointDir)); n != 0 {
				t.Errorf("%d files", n)
			}
		} else if f := foundIn(t, cfg.Run.CheckpointDir); f.Updates != updates || f.End != rangetest.Interrupted || f.Suggested != 0 {
			t.Errorf("%d updates, and then %s, suggested %v", f.Updates, f.End, f.Suggested)
		}
		stop()
	}
}

// Rates that break the network end the test, and are no error; whatever else stops a run stops it as well. In half
// precision a gradient that overflows now and then is the loss scale's.
func TestFindLRThatBreaks(t *testing.T) {
	cfg := findingIn(t)
	var said bytes.Buffer
	r := start(t, cfg, &said)
	f := intercept(r)
	r.hook = func(update int) { f.overflow = update == 25 }
	mustEnd(t, r)
	testkit.MustContain(t, said.String(), "25 updates, with rates from 1e-06 to 5.3e-06 (the loss was no finite number any more)")
	mustNotContain(t, said.String(), "WARNING: window")

	broken := errors.New("broken")
	overflow, made := update.Outcome{Skipped: update.NotFiniteGradient}, update.Outcome{Loss: 1, Audio: 1, Utterances: 1}
	several := func(half bool, outs ...update.Outcome) *finding {
		f := &finding{}
		r.cfg.Run.FP16 = half
		for _, out := range outs {
			if err := f.add(r, out, nil); err != nil {
				t.Error(err)
			}
		}
		return f
	}
	again := slices.Repeat([]update.Outcome{overflow}, mostSkips)
	for name, c := range map[string]struct {
		f    *finding
		want bool
	}{
		"float32":            {several(false, made, overflow), true},
		"fp16, now and then": {several(true, slices.Concat([]update.Outcome{made}, again[1:], []update.Outcome{made}, again[1:])...), false},
		"fp16, again":        {several(true, slices.Concat([]update.Outcome{made}, again)...), true},
		"fp16, at first":     {several(true, again...), false},
		"nothing to read":    {several(false, update.Outcome{Skipped: update.NothingReadable}), false},
	} {
		if c.f.broken() != c.want {
			t.Errorf("%s: broken is %v, want %v (%s)", name, c.f.broken(), c.want, c.f.end)
		}
	}
	var g finding
	if err := g.add(r, made, &update.DivergedError{}); err != nil || !g.broken() {
		t.Errorf("weights that are no numbers: %v, %q", err, g.end)
	}
	if err := g.add(r, made, broken); err != broken {
		t.Errorf("another error is %v", err)
	}
}

// Where the result can't be written that is an error, after all was shown.
func TestFindLRWithoutAPlace(t *testing.T) {
	cfg := findingIn(t)
	cfg.Run.LogDir = filepath.Join(t.TempDir(), "file")
	var said bytes.Buffer
	r := start(t, cfg, &said)
	write(t, cfg.Run.LogDir, "")
	mustLoop(t, r)
	testkit.MustFail(t, r.finish(t.Context()), "log_dir: ")
	testkit.MustContain(t, said.String(), "learning rate range test from new weights")
	if stat, err := os.Stat(cfg.Run.LogDir); err != nil || stat.Size() != 0 {
		t.Error("the file in its place was changed")
	}
}

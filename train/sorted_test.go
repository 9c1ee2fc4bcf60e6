package train

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// sorting is a run of three epochs of six windows, of which the first two go from short to long, with all that is
// random.
func sorting(t *testing.T) Config {
	cfg := tiny(t, speak(t, babble(23, 8, 1)...))
	cfg.Data.SortFirstEpochs, cfg.Optimizer.NumEpochs, cfg.Run.SaveEvery = 2, 3, 1000
	return cfg
}

// The first epochs go from short utterances to long ones. A run that is resumed in the middle of one is the run that
// was not, and what its memory was planned for are the shapes that come.
func TestSortedEpochsResume(t *testing.T) {
	cfg := sorting(t)
	ids, _ := traced(t, cfg, io.Discard)
	r := start(t, elsewhere(t, cfg), nil)
	frames := func(epoch int) (list []int) {
		for _, id := range ids[23*epoch : 23*(epoch+1)] {
			for i := range r.sets.train.Len() {
				if r.sets.train.ID(i) == id {
					list = append(list, r.sets.train.Frames(i))
				}
			}
		}
		return list
	}
	for epoch, want := range []bool{true, true, false} {
		if list := frames(epoch); len(list) != 23 || slices.IsSorted(list) != want {
			t.Errorf("epoch %d: the lengths %v are in order: %v, want %v", epoch+1, list, !want, want)
		}
	}

	cut := elsewhere(t, cfg)
	for _, until := range []int{4, 9, 14, 18} { // in the first epoch, in the second, in the third
		cut.Optimizer.MaxUpdates = until
		mustRun(t, withResume(cut))
	}
	cut.Optimizer.MaxUpdates = 0
	mustEqualRun(t, cut.Run.CheckpointDir, cfg.Run.CheckpointDir, 18)
}

// A setting that changes in the middle of an epoch is told to change what is left of it, and between epochs only to
// differ.
func TestSortedEpochsChange(t *testing.T) {
	cfg := sorting(t)
	cfg.Optimizer.MaxUpdates = 4
	mustRun(t, cfg)
	cfg = withResume(cfg)
	resumed := func(epochs, until int) string {
		cfg.Data.SortFirstEpochs, cfg.Optimizer.MaxUpdates = epochs, until
		return mustRun(t, cfg)
	}
	const warning = "WARNING: sort_first_epochs is "
	testkit.MustContain(t, resumed(0, 6), warning+"0 now, and was 2 when the checkpoint was written in the middle of epoch 1: its rest comes in another order, "+
		"some of its utterances twice or not at all", "NOTE: a setting differs from the checkpoint's (saved / now): sort_first_epochs: 2 / 0")
	mustNotContain(t, resumed(2, 7), warning) // between two epochs
	mustNotContain(t, resumed(3, 8), warning) // in the middle of one that is sorted both times
}

// In sorted epochs a second of sound has now less loss, now more, as lengths go: there no trend is followed, and none
// from there is left behind.
func TestSortedEpochsAreNoTrend(t *testing.T) {
	cfg := sorting(t)
	var said bytes.Buffer
	r := start(t, cfg, &said)
	r.hook = func(n int) {
		if got, want := r.ledger.state.Trend.Count, max(0, n-12); got != want {
			t.Errorf("after update %d the trend is over %d, want %d", n, got, want)
		}
	}
	mustEnd(t, r)
}

// What a run measures is its usual windows: sorted and light epochs are left out.
func TestMeasuredEpochsAreNoEasierOnes(t *testing.T) {
	usual := sorting(t)
	usual.Data.SortFirstEpochs, usual.Data.SpeedPerturb, usual.Data.Speeds = 0, true, []float64{1.2, 1.4}
	want := start(t, usual, nil)
	for name, set := range map[string]func(*RunConfig){
		"profile": func(c *RunConfig) { c.ProfileSteps = 3 },
		"find_lr": func(c *RunConfig) { c.FindLR = true },
	} {
		cfg := elsewhere(t, usual)
		cfg.Data.SortFirstEpochs, cfg.Data.LightFirstEpochs = 2, 2
		set(&cfg.Run)
		got := start(t, cfg, nil)
		for k := range want.sets.loader.Windows() {
			for i, u := range want.sets.loader.Window(0, k) {
				if other := got.sets.loader.Window(0, k)[i]; u.ID != other.ID {
					t.Fatalf("%s: row %d of window %d is %s, want %s", name, i, k, other.ID, u.ID)
				}
			}
			if a, b := got.sets.loader.Lengths(0, k, nil), want.sets.loader.Lengths(0, k, nil); !slices.Equal(a, b) {
				t.Errorf("%s: window %d has lengths %+v, want %+v", name, k, a, b)
			}
		}
	}
}

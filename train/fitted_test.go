package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/device"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/words"
)

// arenasOf is what a run takes for its arenas, and what it takes beside them, in bytes, with room for everything.
func arenasOf(t *testing.T, cfg Config) (arenas, rest int64) {
	t.Helper()
	r := startBare(t, elsewhere(t, cfg), nil)
	u := r.pool.Usage()
	arenas = r.replica.Usage().Arenas
	return arenas, u.Allocated + u.Held - arenas
}

// Where there is room for less than everything the run is fitted: the choice is said with its price and that of the
// others, arenas keep to the limit, and what is learned is what is learned with room for everything, to rounding.
func TestRunIsFitted(t *testing.T) {
	cfg := tiny(t, speak(t, babble(16, 6, 1)...))
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs = 4, 2, 2
	arenas, rest := arenasOf(t, cfg)
	free := startBare(t, elsewhere(t, cfg), nil)
	mustEnd(t, free)
	for _, share := range []int64{60, 25} {
		c := elsewhere(t, cfg)
		c.Run.MemoryLimit = fmt.Sprint(rest+arenas*share/100, "B")
		var said bytes.Buffer
		r := startBare(t, c, &said)
		limit := r.fit().Limit()
		if limit == 0 || limit > arenas*share/200 {
			t.Fatalf("%d %%: a limit of %d bytes for each of two arenas, of %d in all", share, limit, arenas)
		}
		testkit.MustContain(t, said.String(), "memory: fitted to ", "8 utterances an update, as set", "micro-batches of up to 4    recompute none",
			"doesn't fit\n", "chosen, shape by shape: ", " s  recompute of ")
		mustEnd(t, r)
		if u := r.pool.Usage(); u.PeakReserved > u.Limit || r.replica.Usage().Arenas > 2*limit {
			t.Errorf("%d %%: %+v, arenas of %d", share, u, r.replica.Usage().Arenas)
		}
		if got, want := r.result(), free.result(); got.Updates != want.Updates || !(math.Abs(float64(got.Last.Loss-want.Last.Loss)) <= 1e-3*float64(want.Last.Loss)) {
			t.Errorf("%d %%: %d updates, loss %v; with room for everything %d, %v", share, got.Updates, got.Last.Loss, want.Updates, want.Last.Loss)
		}
		if l := r.ledger.state.Lessons; l.Arena != limit || len(l.Costs.Ops) < 20 {
			t.Errorf("%d %%: %+v was learned", share, l)
		}
		// With auto_fit off that is an error, which says what would fit.
		c = elsewhere(t, c)
		c.Run.AutoFit = false
		_, err := setUp(t.Context(), c, Options{buffersOnly: true})
		testkit.MustFail(t, err, "the largest pass, over ", "out of memory: no ", "what would fit: --batch_size ", " --grad_accum ", " --recompute ", "auto_fit chooses")
		if err != nil && strings.Contains(err.Error(), ",  a window") {
			t.Errorf("%v: a time that nobody has measured", err)
		}
	}
}

// Where memory for one more worker's gradients is lacking there are fewer workers, unless their number is set.
func TestWorkersFitMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	cfg := plain(tiny(t, speak(t, babble(16, 6, 1)...)))
	cfg.Run.CPUWorkers, cfg.Optimizer.MaxUpdates = 0, 2
	r := startBare(t, elsewhere(t, cfg), nil)
	need, err := r.updater.Runner.Least(r.longestRow(r.sets.train, true), r.trainingAsk())
	if err != nil {
		t.Fatal(err)
	}
	u := r.replica.Usage()
	each := u.Gradients/4 + need + 64
	rest := r.pool.Usage().Allocated + r.pool.Usage().Held - u.Gradients - u.Arenas
	for workers, room := range map[int]int64{4: 4 * each, 3: 4*each - 1000} {
		c := elsewhere(t, cfg)
		c.Run.MemoryLimit = fmt.Sprint(rest+room, "B")
		var said bytes.Buffer
		r := startBare(t, c, &said)
		if n := r.replica.Wishes().Workers; n != workers {
			t.Errorf("%d workers where there is room for %d", n, workers)
		}
		if n := r.replica.Wishes().Workers; n < 4 {
			testkit.MustContain(t, said.String(), fmt.Sprintf("memory: %s, not one for each of 4 cores", words.Count(n, "worker")))
		}
		mustLoop(t, r)
		c = elsewhere(t, c)
		c.Run.CPUWorkers = 4
		r, err := setUp(t.Context(), c, Options{buffersOnly: true})
		if (err == nil) != (workers == 4) || err != nil && !errors.Is(err, ErrOutOfMemory) {
			t.Errorf("4 workers where there is room for %d: %v", workers, err)
		}
		if err == nil {
			r.close()
		}
	}
}

// A machine that refuses memory without a limit that is known is fitted by trying.
func TestRunIsFittedByTrying(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(16, 6, 1)...)))
	arenas, _ := arenasOf(t, cfg)
	u := startBare(t, elsewhere(t, cfg), nil).pool.Usage()
	var said bytes.Buffer
	r, err := setUp(t.Context(), elsewhere(t, cfg), Options{Out: &said, buffersOnly: true, memory: &limited{Host: device.NewHost(), bytes: u.Allocated - arenas/2}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	mustLoop(t, r)
	testkit.MustContain(t, said.String(), "idle memory is given back, trying again", "compiled programs are dropped", "from now on each worker takes up to ")
}

// Utterances for which there is no room are left out where that is set: named, counted, and nothing else suffers.
func TestTooLargeIsSkipped(t *testing.T) {
	lines := babble(10, 6, 1)
	lines[4].samples = 60 * 16000
	cfg := plain(tiny(t, speak(t, lines...)))
	cfg.Data.MaxDuration, cfg.Optimizer.NumEpochs = 0, 2
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	_, rest := arenasOf(t, cfg)
	without := cfg
	without.Data.MaxDuration = 10
	without.Data.ValManifest = nil
	arenas, _ := arenasOf(t, without)
	cfg.Run.MemoryLimit = fmt.Sprint(rest+arenas, "B")
	_, err := setUp(t.Context(), elsewhere(t, cfg), Options{buffersOnly: true})
	testkit.MustFail(t, err, "out of memory: utt04 (", "line 5) has 60.0 s", "max_duration 0.", "lets the rest train")
	cfg.Run.OnOOM = "skip"
	var said bytes.Buffer
	r := startBare(t, elsewhere(t, cfg), &said)
	mustEnd(t, r)
	testkit.MustContain(t, said.String(), "WARNING: left out for lack of memory (on_oom skip): utt04 (", "line 5), 60.0 s", "2 utterances not trained on for lack of memory")
	p := r.ledger.state.Progress
	if p.TooLarge != 2 || p.Failed != 0 || p.Utterances != 18 {
		t.Errorf("%+v: want 9 utterances twice, and one left out twice", p)
	}
	if e := r.ledger.state.Score; e.Score.Utterances != 9 || e.Failed != 1 {
		t.Errorf("validation: %v", e)
	}
}

// A fitted run that is killed and resumed is the straight run to the bit: what was learned of memory is in the
// checkpoint. Under another limit it goes on all the same, and says that it isn't.
func TestFittedRunResumesBitForBit(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(16, 6, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery = 4, 1, 8, 4
	arenas, rest := arenasOf(t, cfg)
	cfg.Run.MemoryLimit = fmt.Sprint(rest+arenas/3, "B")
	bare := func(c Config) string {
		t.Helper()
		var said bytes.Buffer
		if _, err := Run(t.Context(), c, Options{Out: &said, buffersOnly: true}); err != nil {
			t.Fatal(err)
		}
		return said.String()
	}
	straight := elsewhere(t, cfg)
	bare(straight)
	for limit, want := range map[string]string{
		cfg.Run.MemoryLimit: "", fmt.Sprint(rest+arenas/2, "B"): "this one is under memory_limit ", "auto": "this one is under memory_limit auto",
	} {
		c := elsewhere(t, cfg)
		half := checkpoint.Name(4) // the run as if it had been killed behind update 4; its costs were measured once
		copyFolder(t, filepath.Join(straight.Run.CheckpointDir, half), filepath.Join(c.Run.CheckpointDir, half))
		c.Run.Resume, c.Run.MemoryLimit = "auto", limit
		said := bare(c)
		if want == "" {
			mustNotContain(t, said, "bit for bit")
			mustEqualRun(t, c.Run.CheckpointDir, straight.Run.CheckpointDir, 8)
			continue
		}
		testkit.MustContain(t, said, want, "not bit for bit the uninterrupted one")
		testkit.CloseRel(t, "weights under "+limit, modelOf(t, c), modelOf(t, straight), 1e-4) // another split, eight steps of Adam
	}
	// What had room for everything may have none later.
	c := elsewhere(t, cfg)
	c.Optimizer.MaxUpdates, c.Run.MemoryLimit = 4, "auto"
	bare(c)
	c.Optimizer.MaxUpdates, c.Run.Resume, c.Run.MemoryLimit = 8, "auto", cfg.Run.MemoryLimit
	testkit.MustContain(t, bare(c), "there was room for everything when the checkpoint was written, and there isn't now")
}

package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// startBare sets a run up of which nothing beside buffers counts under its limit.
func startBare(t testing.TB, c Config, out io.Writer) *run {
	t.Helper()
	r, err := setUp(context.Background(), c, Options{Out: out, buffersOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// buffers is what a replica holds without the tables, which grow with the shapes that are met.
func buffers(r *run) engine.Usage {
	u := r.replica.Usage()
	u.Tables = 0
	return u
}

// largestInTraining is the largest pass of what is still to come of training with a loader.
func largestInTraining(r *run, l *data.Loader) (peak, error) {
	var p passes
	_, err := r.list(&p, l, r.stretch(l), r.trainingAsk())
	return p.most, err
}

// What a run takes in memory is known before its first update, to the byte: two epochs of training with speeds,
// validations with long utterances and a test set leave it as it was. The dealing goes by lengths that are known before
// files are read, so files that can't be read change nothing.
func TestMemoryIsPlanned(t *testing.T) {
	lines := babble(16, 6, 1)
	for name, manifest := range map[string]string{
		"all is readable": speak(t, lines...), "some is not": speakSome(t, lines, 1, 4, 9), "few are": speakSome(t, lines[:5], 0, 2, 3, 4),
	} {
		cfg := tiny(t, manifest)
		cfg.Data.ValManifest = []string{speak(t, spoken{id: "long", text: letters, samples: 30 * 16000}, spoken{id: "short", text: "abc"})}
		cfg.Data.TestManifest = []string{speak(t, spoken{id: "longer", text: letters, samples: 40 * 16000})}
		cfg.Optimizer.NumEpochs, cfg.Optimizer.BatchSize = 2, 4
		memory := &device.Host{}
		var said bytes.Buffer
		r, err := setUp(t.Context(), cfg, Options{Out: &said, memory: memory, buffersOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.close)
		planned, held := buffers(r), memory.Usage()
		mustEnd(t, r)
		if got := buffers(r); got != planned {
			t.Errorf("%s: %+v in use at the end, %+v were planned", name, got, planned)
		}
		if got := memory.Usage(); got != held {
			t.Errorf("%s: %+v allocated at the end, %+v before", name, got, held)
		}
		if e := r.ledger.state.Score; e == nil || e.Score.Utterances != 2 || r.tested == nil || !(r.tested.Audio == 40) {
			t.Errorf("%s: validation %v, test %v", name, e, r.tested)
		}
		u := planned
		all := r.pool.Usage()
		mustContainOnce(t, said.String(), "memory: scoring longer (40.0 s) takes more than any training pass", "takes more than any",
			"memory: "+words.Bytes(all.Allocated+all.Held)+" in all, under a limit of ", "weights, gradients and moments "+words.Bytes(u.Weights+u.Gradients+u.Moments)+
				", 2 workers with "+words.Bytes(u.Arenas/2)+" each")
	}
}

// Accumulation costs no memory: arenas and gradient buffers are the same for 1 and 16 passes.
func TestAccumulationTakesNoMemory(t *testing.T) {
	manifest := speak(t, babble(32, 8, 1)...)
	var usages []engine.Usage
	for _, accum := range []int{1, 4, 16} {
		cfg := plain(tiny(t, manifest))
		cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs = 2, accum, 2
		cfg.Run.CPUWorkers = 1 // two would halve a window of one batch
		r := startBare(t, cfg, nil)
		mustLoop(t, r)
		usages = append(usages, buffers(r))
	}
	if usages[0] != usages[1] || usages[1] != usages[2] {
		t.Errorf("with accumulation 1, 4 and 16 there are in use %+v", usages)
	}
}

// A set smaller than a window is planned for with the utterances that it has.
func TestPlanOfASmallSet(t *testing.T) {
	cfg := plain(tiny(t, speak(t, spoken{id: "a", text: letters}, spoken{id: "b", text: letters}, spoken{id: "c", text: letters})))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Run.CPUWorkers = 8, 2, 1
	var said bytes.Buffer
	r := startBare(t, cfg, &said)
	testkit.MustContain(t, said.String(), " 1 worker with ")
	most, err := largestInTraining(r, r.sets.loader)
	if err != nil || most.Batch != 2 {
		t.Fatalf("%+v, %v: of 3 utterances the largest pass has 2 rows", most.Shape, err)
	}
	full := most.Variant
	full.Batch = 8
	if prices, err := r.replica.Prices([]update.Variant{full}); err != nil || prices[0].Bytes <= most.bytes || r.replica.Usage().Arenas != most.bytes {
		t.Errorf("%d bytes for 2 rows, %v for 8 (%v), %d are held", most.bytes, prices, err, r.replica.Usage().Arenas)
	}
}

// The pass with the most work needn't be the one that takes the most memory: attention's quadratic part weighs more in
// work than in bytes. Four utterances of 256 frames take more memory, and less work, than two of 416 to 480.
func TestPlanIsOfTheMostMemory(t *testing.T) {
	lengths := []int{256, 416, 448, 480}
	var lines []spoken
	for i := range 4 * len(lengths) {
		lines = append(lines, spoken{id: fmt.Sprint(i), text: letters, samples: 160 * lengths[i/4]})
	}
	cfg := plain(tiny(t, speak(t, lines...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Run.CPUWorkers = 4, 1, 1
	r := startBare(t, cfg, nil)
	var bytes int64
	for i := range lengths {
		loader, err := r.trainingLoader(r.sets.train.Select(func(k int) bool { return k/4 == i }))
		if err != nil {
			t.Fatal(err)
		}
		p, err := largestInTraining(r, loader)
		if err != nil {
			t.Fatal(err)
		}
		prices, err := r.replica.Prices([]update.Variant{p.Variant})
		if err != nil {
			t.Fatal(err)
		}
		work := prices[0].FLOPs * float64(4/p.Batch)
		t.Logf("%d frames: %d rows, %d bytes, %.3g operations", lengths[i], p.Batch, p.bytes, work)
		if i == 0 {
			bytes = p.bytes
		} else if p.bytes >= bytes {
			t.Errorf("%d frames take %d bytes, 256 take %d: this test says nothing", lengths[i], p.bytes, bytes)
		}
	}
	if held := r.replica.Usage().Arenas; held != bytes {
		t.Errorf("%d bytes are held, the largest pass takes %d", held, bytes)
	}
}

// Of a run that has ended nothing is planned but its scores.
func TestPlanOfAFinishedRun(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	cfg.Optimizer.MaxUpdates = 2
	if u := startBare(t, cfg, nil).replica.Usage(); u.Arenas != 0 {
		t.Errorf("%d bytes for passes that don't come", u.Arenas)
	}
}

// A run is refused for want of memory before its first update, with the utterance that is too long, and where it
// stands. The max_duration of the message lets the rest train, and a larger one does not: also with speeds, of which
// the slowest makes an utterance longer than it is.
func TestMemoryRefusal(t *testing.T) {
	var lines []spoken
	for i := range 12 {
		lines = append(lines, spoken{id: fmt.Sprintf("utt%02d", i), text: letters, samples: 16000*(i+1) + 960})
	}
	cfg := tiny(t, speak(t, lines...))
	cfg.Data.MaxDuration, cfg.Optimizer.NumEpochs, cfg.Run.CPUWorkers, cfg.Run.Recompute = 0, 1, 1, "none"
	advised := regexp.MustCompile(`leave it out: max_duration ([0-9.]+) lets the rest train`)
	begin := func(cfg Config, limit int64) error {
		cfg = elsewhere(t, cfg)
		cfg.Run.MemoryLimit = fmt.Sprint(limit, "B")
		r, err := setUp(t.Context(), cfg, Options{buffersOnly: true})
		if err != nil {
			return err
		}
		defer r.close()
		return r.loop(t.Context())
	}
	arenas, rest := arenasOf(t, cfg)
	for _, share := range []int64{90, 70, 40} {
		limit := rest + arenas*share/100
		err := begin(cfg, limit)
		testkit.MustFail(t, err, "out of memory: utt11 (", "manifest.jsonl, line 12) has 12.1 s, and a pass over it alone takes ",
			" of memory for each worker, where ", " left of "+words.Bytes(limit)+" (memory_limit)", "; or on_oom skip leaves out what doesn't fit")
		found := advised.FindStringSubmatch(err.Error())
		if found == nil {
			t.Fatalf("no advice: %v", err)
		}
		c := cfg
		if c.Data.MaxDuration, err = strconv.ParseFloat(found[1], 64); err != nil {
			t.Fatal(err)
		}
		if err := begin(c, limit); err != nil {
			t.Errorf("with max_duration %g: %v", c.Data.MaxDuration, err)
		}
		if c.Data.MaxDuration++; c.Data.MaxDuration < 13 {
			testkit.MustFail(t, begin(c, limit), "out of memory: utt")
		}
	}
	err := begin(cfg, rest+arenas/100)
	testkit.MustFail(t, err, "utt11", "for each worker", "11 utterances more don't fit either", "; use a smaller network or fewer cpu_workers, or raise memory_limit")
	mustNotContain(t, err.Error(), "max_duration")
	mustNotContain(t, err.Error(), "on_oom") // it would leave nothing
	leaving := cfg
	leaving.Run.OnOOM = "skip"
	err = begin(leaving, rest+arenas/100)
	testkit.MustFail(t, err, "11 utterances more don't fit either; use a smaller network")
	testkit.MustFail(t, begin(cfg, 1000), "out of memory: no ", "for weights", "; use a smaller network, batch_size or max_duration, or fewer cpu_workers")
}

// Where the program alone is over the limit no smaller network helps; what is to be raised is what sets the limit.
func TestMemoryBelowTheProgram(t *testing.T) {
	for advice, limit := range map[string]RunConfig{
		"limit is that of memory_limit, and the program itself, with the sets' lists, takes more than that: raise memory_limit": {MemoryLimit: "1MB"},
		"and the program itself, with the sets' lists, takes more than that: raise memory_fraction or memory_limit":             {MemoryLimit: "1GiB", MemoryFraction: 1e-9},
		"and the program itself, with the sets' lists, takes more than that: raise memory_fraction":                             {MemoryLimit: "auto", MemoryFraction: 1e-9},
	} {
		cfg := small(tiny(t, speak(t, babble(4, 3, 1)...)))
		cfg.Run.MemoryLimit, cfg.Run.MemoryFraction = limit.MemoryLimit, limit.MemoryFraction
		_, err := Run(t.Context(), cfg, Options{})
		if err == nil || !errors.Is(err, ErrOutOfMemory) || !strings.HasSuffix(err.Error(), advice) {
			t.Errorf("%q, %g: the error is %v, want %q at its end", limit.MemoryLimit, limit.MemoryFraction, err, advice)
		}
	}
}

// max_duration is for training: an utterance that is too long to be scored has to leave its manifest.
func TestMemoryRefusalOfScoring(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(4, 3, 1)...)))
	cfg.Data.ValManifest = []string{speak(t, spoken{id: "short", text: "abc"}, spoken{id: "long", text: letters, samples: 60 * 16000})}
	arenas, rest := arenasOf(t, cfg)
	cfg.Run.MemoryLimit = fmt.Sprint(rest+arenas*8/10, "B")
	_, err := setUp(t.Context(), cfg, Options{buffersOnly: true})
	testkit.MustFail(t, err, "long ("+cfg.Data.ValManifest[0]+", line 2) has 60.0 s", "; leave it out of its manifest; or on_oom skip")
	mustNotContain(t, err.Error(), "max_duration")
}

// An error of a replica that is none of memory comes through as it is, from pricing and from preparing.
func TestErrorsOfPlanning(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(4, 3, 1)...)))
	cfg.Data.ValManifest, cfg.Data.TestManifest = cfg.Data.TrainManifest, cfg.Data.TrainManifest
	r := startBare(t, cfg, nil)
	f := intercept(r)
	broken := errors.New("broken")
	f.prepare = broken
	if err := r.planMemory(); err != broken {
		t.Errorf("%v", err)
	}
	f.prepare = nil
	for _, fails := range []int{1, 2, 3} { // prices of training, of validation, of the test set
		calls := 0
		r.replica = &pricing{f, func() error {
			if calls++; calls == fails {
				return broken
			}
			return nil
		}}
		if err := r.planMemory(); err != broken {
			t.Errorf("the prices of set %d: %v", fails, err)
		}
	}
}

// pricing is a replica whose prices can fail by their number.
type pricing struct {
	*frail
	fails func() error
}

// Prices fails where it is told to.
func (p *pricing) Prices(keys []update.Variant) ([]engine.Price, error) {
	if err := p.fails(); err != nil {
		return nil, err
	}
	return p.frail.Prices(keys)
}

// live is what the program holds on to: bytes of Go's heap after a collection, and goroutines.
func live() (bytes, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// Memory doesn't creep: over 2000 updates on lengths that vary what is live stays level, and the replica holds what was
// planned. Resident memory would say less: it follows the garbage collector, and with it the load of the machine.
func TestMemoryDoesntCreep(t *testing.T) {
	lines := babble(40, 3, 1)
	random := testkit.Rand(5)
	for i := range lines {
		lines[i].samples = 1600*(2+len(lines[i].text)) + random.IntN(16000)
	}
	cfg := tiny(t, speak(t, lines...))
	cfg.Model = ModelConfig{
		DModel: 8, EncoderLayers: 1, DecoderLayers: 1, Heads: 1, ConvKernel: 3, Subsampling: 4,
		SubsampleChannels: 2, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
	cfg.Data.NumMels, cfg.Data.FreqWidth = 8, 2
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 2, 1
	cfg.Optimizer.MaxUpdates, cfg.Optimizer.NumEpochs, cfg.Run.LogEvery = 2000, 1000, 100
	cfg.Data.NumWorkers = 1 // of two, one may meet its longest utterance late, and grow its buffers then
	r := startBare(t, cfg, nil)
	planned := buffers(r)
	// The least of many looks is free of what the loader has in hand at the time. New shapes are met, and bound to a
	// worker, until update 550 or so.
	type least struct{ bytes, goroutines int }
	const half = 500
	var halves [2]least
	looks := 0
	r.hook = func(update int) {
		if got := buffers(r); got != planned {
			t.Fatalf("update %d: %+v in use, %+v were planned", update, got, planned)
		}
		if update <= 1000 || update%25 != 0 {
			return
		}
		h := &halves[(update-1001)/half]
		bytes, goroutines := live()
		if looks++; h.bytes == 0 {
			*h = least{bytes, goroutines}
		}
		h.bytes, h.goroutines = min(h.bytes, bytes), min(h.goroutines, goroutines)
	}
	mustLoop(t, r)
	rise := (halves[1].bytes - halves[0].bytes) / half
	t.Logf("%d bytes an update, from %.1f MB", rise, float64(halves[0].bytes)/1e6)
	// On a quiet machine the rise is 0. A loader that was starved in the first half may have six feature buffers of 8 kB
	// more in the second: 98 bytes an update.
	if looks != 40 || rise > 128 {
		t.Errorf("what is live rises by %d bytes with each update", rise)
	}
	if halves[1].goroutines > halves[0].goroutines {
		t.Errorf("%d goroutines, later %d", halves[0].goroutines, halves[1].goroutines)
	}
}

// A pass without a backward pass takes less memory than one with, at every shape.
func TestScoringBuildsNoBackwardPass(t *testing.T) {
	r := startBare(t, plain(tiny(t, speak(t, babble(4, 4, 1)...))), nil)
	for _, shape := range []model.Shape{{Batch: 1, Frames: 16, Tokens: 4}, {Batch: 4, Frames: 320, Tokens: 16}} {
		prices, err := r.replica.Prices([]update.Variant{{Shape: shape, Purpose: model.Training}, {Shape: shape, Purpose: model.Scoring}})
		if err != nil || prices[1].Bytes >= prices[0].Bytes || prices[1].FLOPs >= prices[0].FLOPs {
			t.Errorf("%+v: training and scoring take %+v, %v", shape, prices, err)
		}
	}
}

// A whole update allocates nothing on Go's heap, once its shapes have been met.
func TestUpdatesAllocateNothing(t *testing.T) {
	for _, half := range []bool{false, true} {
		cfg := tiny(t, speak(t, babble(4, 4, 1)...))
		cfg.Run.FP16 = half
		r := startBare(t, cfg, nil)
		w := windows(t, r, 1)[0]
		step := func() {
			if out, err := r.updater.Update(w.Examples); err != nil || out.Skipped != update.Made {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		for range 4 { // the third looks at the weights too
			step()
		}
		if n := testing.AllocsPerRun(10, step); n != 0 {
			t.Errorf("fp16 %v: %v allocations an update, want 0", half, n)
		}
	}
}

package update

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// mallocs is the number of allocations that f makes, on as many cores as there are.
func mallocs(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// After the first ones, an update (dealing, forward, backward, sum, norm, AdamW, a look at the weights) leaves Go's
// heap alone, with windows of several shapes and on two cores.
func TestUpdateAllocatesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct {
		o     Options
		ways  []engine.Recompute
		limit int64
	}{
		{}, {o: Options{Half: true}}, {o: Options{Half: true}, ways: []engine.Recompute{engine.RecomputeBlocks}},
		{ways: []engine.Recompute{engine.RecomputeNone, engine.RecomputeAll}, limit: 600_000},
	} {
		net, o := tinyNetwork(4, 1), c.o
		o.BatchSize, o.Rate, o.GradClip = 4, noam(1e-3, 10), 1
		u := New(net, newCrew(t, net, 2), o)
		u.Runner.Fit.Recompute = c.ways
		u.Runner.Fit.SetLimit(c.limit)
		windows := [][]*data.Example{windowOfFour(net), windowOfEight(net), windowOfFour(net)[1:]}
		round := func() {
			for _, w := range windows {
				mustUpdate(t, u, w)
			}
		}
		round()
		// The runtime itself allocates now and then: the least of several looks is the updates'.
		least := mallocs(round)
		for range 9 {
			least = min(least, mallocs(round))
		}
		if least != 0 {
			t.Errorf("%+v: %d allocations in three updates", c, least)
		}
	}
}

// A steady pass that scores allocates nothing either.
func TestScoringAllocatesNothing(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := NewRunner(net, newCrew(t, net, 2), 4)
	window := windowOfEight(net)
	sum := 0.0
	ask := Ask{Purpose: model.Scoring, Logits: func(int, int, []float32) {}}
	pass := func() {
		losses, err := r.Run(window, ask)
		if err != nil {
			t.Fatal(err)
		}
		sum += losses[0].Total
	}
	pass()
	if n := testing.AllocsPerRun(20, pass); n != 0 {
		t.Errorf("%v allocations a pass", n)
	}
}

// The loss of utterances that come again and again falls.
func TestUpdatesLearn(t *testing.T) {
	net := tinyNetwork(4, 1)
	o := options
	o.GradClip, o.Rate = 5, noam(1e-2, 20)
	u := New(net, newCrew(t, net, 2), o)
	window := windowOfEight(net)
	first, last := 0.0, 0.0
	for i := range 100 {
		last = mustUpdate(t, u, window).Loss
		if i == 0 {
			first = last
		}
	}
	if !(last < 0.8*first) {
		t.Errorf("the loss goes from %.2f to %.2f nats in 100 updates", first, last)
	}
}

// Computing activations again takes less memory and changes nothing, to the bit; half precision takes less memory.
func TestRecomputeChangesNoBit(t *testing.T) {
	net := tinyNetwork(4, 2)
	net.EncoderLayers = 4
	type how struct {
		half bool
		way  engine.Recompute
	}
	usage := map[how]int64{}
	run := func(h how) []float32 {
		r := newRig(t, net, 2)
		o := options
		o.Half = h.half
		u := New(net, r.Replica, o)
		u.Runner.Fit.Recompute = []engine.Recompute{h.way}
		for _, w := range [][]*data.Example{windowOfFour(net), windowOfEight(net), windowOfFour(net)} {
			mustUpdate(t, u, w)
		}
		usage[h] = r.Usage().Arenas
		return r.everything(u)
	}
	for _, half := range []bool{false, true} {
		stored := how{half, engine.RecomputeNone}
		want := run(stored)
		least := usage[stored]
		for _, way := range []engine.Recompute{engine.RecomputeBlocks, engine.RecomputeAll} {
			again := how{half, way}
			testkit.Close(t, fmt.Sprintf("weights and moments with recompute %v, half %v", way, half), run(again), want, 0)
			if usage[again] >= least {
				t.Errorf("half %v: recompute %v takes %d bytes, less of it %d", half, way, usage[again], least)
			}
			least = usage[again]
		}
	}
	if half, full := usage[how{half: true}], usage[how{}]; half >= full {
		t.Errorf("half precision takes %d bytes, full %d", half, full)
	}
}

// live is what the program holds on to: bytes of Go's heap after a collection, and goroutines.
func live() (bytes, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// Memory doesn't creep: over four epochs of updates what is live stays level, and what the replica holds is what it
// held before the first. The windows are read beforehand, for a loader's buffers come and go. Resident memory would
// say less: it follows the garbage collector, and with it the load of the machine.
func TestMemoryDoesntCreep(t *testing.T) {
	set := examples(t, bundled)
	span := Span{Count: 5 * 14}
	p := plan(t, set, options, span)
	var all []engine.Batch[Variant]
	for _, m := range p.met {
		all = append(all, engine.Batch[Variant]{Key: m.Variant}, engine.Batch[Variant]{Key: m.Variant, Worker: 1})
	}
	if err := p.crew.Prepare(all, p.bytes); err != nil { // whatever is to come is bound now
		t.Fatal(err)
	}
	var windows [][]*data.Example
	read(t, p.loader, span, func(w *data.Window) {
		var kept []*data.Example // the loader's own features go back to it
		for _, e := range w.Examples {
			c := *e
			c.Features = slices.Clone(e.Features)
			kept = append(kept, &c)
		}
		windows = append(windows, kept)
	})
	usage := p.crew.Usage()
	const first = 14 // updates until everything has been met once
	var before, goroutines int
	for _, w := range windows {
		if p.updater.Updates == first {
			before, goroutines = live()
		}
		mustUpdate(t, p.updater, w)
		if got := p.crew.Usage(); got != usage {
			t.Fatalf("update %d: %+v in use, %+v before", p.updater.Updates, got, usage)
		}
	}
	p.check(t)
	after, now := live()
	// Nothing is kept, so only what the runtime itself does in the meantime is seen: some kilobytes in all.
	if rise := (after - before) / (p.updater.Updates - first); rise > 256 {
		t.Errorf("what is live rises by %d bytes with each update, from %.1f MB", rise, float64(before)/1e6)
	}
	if now > goroutines {
		t.Errorf("%d goroutines, later %d", goroutines, now)
	}
	runtime.KeepAlive(windows)
}

//go:build gpu

package train

import (
	"runtime"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/update"
)

// Two hundred updates on a simulated card leave what is held as it was after the first ones: the card's memory, pinned
// memory, graphs, streams and events. An update of two micro-batches makes some forty small allocations on Go's heap,
// for what is handed to the card's thread.
func TestSimulatedSteady(t *testing.T) {
	for _, half := range []bool{false, true} {
		lines := babble(12, 2, 1)
		lines[0].text = "abc"
		cfg, l := onSimulated(t, small(tiny(t, speak(t, lines...))))
		cfg.Model.DecoderLayers, cfg.Model.CTCWeight, cfg.Run.FP16 = 1, 0.3, half
		control := l.Control(t)
		r := start(t, cfg, nil)
		r.updater.LossScale.Scale = 1
		list := windows(t, r, 3)
		next := 0
		r.updater.Next = func() []*data.Example { return list[next%len(list)].Examples }
		step := func() {
			w := list[next%len(list)]
			next++
			if out, err := r.updater.Update(w.Examples); err != nil || out.Skipped != update.Made {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		for range 3 * len(list) { // load kernels, capture graphs, and grow what is staged
			step()
		}
		held := func() (counts [7]int64) {
			for i, of := range []string{"allocations", "bytes", "pinned", "streams", "events", "graphs", "contexts"} {
				counts[i] = control.Count("live " + of)
			}
			return counts
		}
		before, usage := held(), r.replica.Usage()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		mallocs := m.Mallocs
		const updates = 200
		for range updates {
			step()
		}
		runtime.ReadMemStats(&m)
		if got := held(); got != before || before[5] == 0 {
			t.Errorf("fp16 %v: held %v after some updates, %v after %d more", half, before, got, updates)
		}
		if got := r.replica.Usage(); got != usage {
			t.Errorf("fp16 %v: %+v after some updates, %+v after %d more", half, usage, got, updates)
		}
		each := float64(m.Mallocs-mallocs) / updates
		t.Logf("fp16 %v: %.1f allocations an update", half, each)
		if each > 60 {
			t.Errorf("fp16 %v: %.1f allocations an update", half, each)
		}
		r.close()
		if got := held(); got != [7]int64{} {
			t.Errorf("fp16 %v: %v are left", half, got)
		}
	}
}

// The memory-optimized settings on a simulated T4, with a smaller network: half precision, two utterances at a time and
// four times an update. Idle memory is given back every so many updates, and the log says so.
func TestSimulatedMemoryOptimized(t *testing.T) {
	cfg := konkani(t)
	cfg.Model.DModel, cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 16, 2, 4
	cfg.Optimizer.MaxUpdates, cfg.Run.FP16, cfg.Run.CacheClearEvery, cfg.Run.MemoryLog = 6, true, 3, "batch"
	cfg, _ = onSimulated(t, cfg)
	said := mustRun(t, cfg)
	mustContainOnce(t, said, "device: cuda:0, Tesla T4, ", "cache cleared 2 times", "[GPU Memory] After First Step: ")
	for _, at := range []string{"Before", "After"} {
		if n := strings.Count(said, "[GPU Memory] "+at+" Cache Clear: "); n != 2 {
			t.Errorf("%s a cache clear: %d lines, want 2:\n%s", at, n, said)
		}
	}
	mustNotContain(t, said, "WARNING: the cache held", "leak")
}

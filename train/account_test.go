package train

import (
	"io"
	"runtime"
	"testing"
)

// What is foreseen of Go's heap is the most that a run with validation and a test set comes to, but for 5 % for tables
// of constants. What was in use before it and decoded sound are there in any case; how far workers get ahead, and how
// many of them resample at the same time, is left to chance.
func TestHeldIsForeseen(t *testing.T) {
	defer leanHeap()()
	lines := babble(16, 6, 1)
	for i := range lines {
		lines[i].samples = (4 + i%3) * 16000
	}
	cfg := tiny(t, speak(t, lines...))
	cfg.Data.ValManifest = []string{speak(t, spoken{id: "long", text: letters, samples: 12 * 16000}, spoken{id: "short", text: "abc"})}
	cfg.Data.TestManifest = []string{speak(t, spoken{id: "longer", text: letters, samples: 15 * 16000})}
	cfg.Optimizer.NumEpochs, cfg.Optimizer.BatchSize = 4, 4
	r := start(t, cfg, io.Discard)
	f := r.held
	if f.Base <= 0 || f.Machines <= 0 || f.Loaders.Sound <= 0 || f.Heap <= 0 || f.Runtime <= 0 {
		t.Errorf("%+v", f)
	}
	foreseen, live := f.Heap+f.Machines+f.Loaders.Total(), int64(0)
	r.hook = func(int) {
		runtime.GC()
		live = max(live, goMemoryNow().Live)
	}
	mustEnd(t, r)
	if live < f.Heap+f.Loaders.Sound || float64(live) > 1.05*float64(foreseen) {
		t.Errorf("%d bytes are in use at most, foreseen were %d: %+v", live, foreseen, f)
	}
}

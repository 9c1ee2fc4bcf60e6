package train

import (
	"runtime"
	"testing"

	"konkanitrain/internal/testkit"
)

// live is what the program holds on to: bytes of Go's heap after a collection, and goroutines.
func live() (bytes, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// Memory doesn't creep: over 2000 updates on lengths that vary what is live stays level, and device memory is what was
// planned. Resident memory would say less: it follows the garbage collector, and with it the load of the machine.
func TestMemoryDoesntCreep(t *testing.T) {
	lines := babble(40, 3, 1)
	r := testkit.Rand(5)
	for i := range lines {
		lines[i].samples = 1600*(2+len(lines[i].text)) + r.IntN(16000)
	}
	cfg := tiny(t, speak(t, lines...))
	cfg.Model = ModelConfig{DModel: 8, EncoderLayers: 1, DecoderLayers: 1, Heads: 1, ConvKernel: 3, Subsampling: 4,
		SubsampleChannels: 2, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1}
	cfg.Data.NumMels, cfg.Data.FreqWidth = 8, 2
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 2, 1
	cfg.Optimizer.MaxUpdates, cfg.Optimizer.NumEpochs, cfg.Run.LogEvery = 2000, 1000, 100
	cfg.Data.NumWorkers = 1 // of two, one may meet its longest utterance late, and grow its buffers then
	run := start(t, cfg, nil)
	planned := run.dev.Usage()
	// The least of many looks is free of what the loader has in hand at the time. New shapes are met, and bound to a
	// worker, until update 550 or so.
	type least struct{ bytes, goroutines int }
	const half = 500
	var halves [2]least
	looks := 0
	run.hook = func(update int) {
		if got := run.dev.Usage(); got != planned {
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
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
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

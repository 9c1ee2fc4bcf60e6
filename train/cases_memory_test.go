package train

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/update"
)

// One utterance of a minute among a hundred of 3 s, eight in a micro-batch: where it fits alone, computed again, all
// are trained on, the update has as many utterances as is set, and none of the short ones is padded to a minute.
func TestOneLongAmongShort(t *testing.T) {
	var lines []spoken
	for i := range 101 {
		s := spoken{id: fmt.Sprint("short", i), text: letters, samples: 3 * 16000}
		if i == 50 {
			s.id, s.samples = "long", 60*16000
		}
		lines = append(lines, s)
	}
	cfg := plain(tiny(t, speak(t, lines...)))
	cfg.Data.MaxDuration, cfg.Optimizer.NumEpochs, cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 0, 1, 8, 1
	arenas, rest := arenasOf(t, cfg)
	free := startBare(t, elsewhere(t, cfg), nil)
	long := free.sets.train.At(50)
	if long.Frames != 6000 || free.sets.train.At(0).Frames != 300 {
		t.Fatalf("%d and %d feature frames, want 6000 and 300", long.Frames, free.sets.train.At(0).Frames)
	}
	p, err := free.listPasses()
	if err != nil || p.most.utterance().ID != long.ID {
		t.Fatalf("the largest pass is over %v: %v", p.most.Shape, err)
	}
	least, err := free.least(&leftOut{Utterance: long, training: true, place: placeOf(t, free, "long"), loader: free.sets.loader})
	if err != nil || 2*least >= arenas {
		t.Fatalf("computed again it takes %d bytes, %d for two workers with all values kept: %v", least, arenas, err)
	}
	cfg.Run.MemoryLimit = fmt.Sprint(rest+2*least, "B")
	var said bytes.Buffer
	r := startBare(t, elsewhere(t, cfg), &said)
	testkit.MustContain(t, said.String(), "memory: fitted to ", "; 8 utterances an update, as set", "The window with the largest pass (long, 60.0 s):")
	if p, err = r.listPasses(); err != nil || len(p.left) > 0 {
		t.Fatalf("%d are left out: %v", len(p.left), err)
	}
	for _, m := range p.training {
		if m.Frames > 320 && m.Batch != 1 {
			t.Errorf("%d rows of %d frames, one of which has that many", m.Batch, m.Frames)
		}
	}
	mustEnd(t, r)
	if at := r.ledger.state.Progress; at.Utterances != 101 || at.TooLarge != 0 || r.updater.Updates != 13 {
		t.Errorf("%d updates, %+v: want 13, with 101 utterances", r.updater.Updates, at)
	}
	// Where it doesn't fit the run is refused, and names it. The first bytes that are lacking are decisive.
	cfg.Run.MemoryLimit = fmt.Sprint(rest+2*least-2, "B")
	_, err = setUp(t.Context(), elsewhere(t, cfg), Options{buffersOnly: true})
	testkit.MustFail(t, err, "out of memory: long (", "line 51) has 60.0 s", "max_duration 3.0 lets the rest train")
}

// placeOf is where an utterance comes in the first epoch.
func placeOf(t *testing.T, r *run, id string) (at update.Left) {
	t.Helper()
	for k := range r.sets.loader.Windows() {
		for row, u := range r.sets.loader.Window(0, k) {
			if u.ID == id {
				at.Window, at.Row = k, row
				return at
			}
		}
	}
	t.Fatalf("%s comes in no window", id)
	return at
}

// Every setting about memory changes what a run plans with, or does, in the direction that it promises.
func TestMemorySettingsDoSomething(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(16, 6, 1)...)))
	cfg.Model.EncoderLayers = 4
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates, cfg.Run.LogEvery = 4, 2, 4, 100
	type figures struct{ arenas, gradients, limit int64 }
	planned := func(change func(*Config)) figures {
		c := elsewhere(t, cfg)
		change(&c)
		r := startBare(t, c, nil)
		u := r.replica.Usage()
		return figures{u.Arenas, u.Gradients, r.pool.Usage().Limit}
	}
	as := planned(func(*Config) {})
	for _, c := range []struct {
		name   string
		change func(*Config)
		holds  func(f figures) bool
	}{
		{"recompute none", func(c *Config) { c.Run.Recompute = "none" }, func(f figures) bool { return f.arenas == as.arenas }},
		{"recompute blocks", func(c *Config) { c.Run.Recompute = "blocks" }, func(f figures) bool { return f.arenas < as.arenas*9/10 }},
		{"recompute all", func(c *Config) { c.Run.Recompute = "all" }, func(f figures) bool { return f.arenas < as.arenas*9/10 }},
		{"fp16", func(c *Config) { c.Run.FP16 = true }, func(f figures) bool { return f.arenas < as.arenas*9/10 }},
		{"batch_size 1", func(c *Config) { c.Optimizer.BatchSize, c.Optimizer.GradAccum = 1, 8 }, func(f figures) bool { return f.arenas < as.arenas/2 }},
		{"cpu_workers 1", func(c *Config) { c.Run.CPUWorkers = 1 }, func(f figures) bool { return f.arenas == as.arenas/2 && f.gradients == as.gradients/2 }},
		{"memory_limit", func(c *Config) { c.Run.MemoryLimit = "300MiB" }, func(f figures) bool { return f.limit == 300<<20 }},
		{"memory_fraction", func(c *Config) { c.Run.MemoryLimit, c.Run.MemoryFraction = "300MiB", 0.5 }, func(f figures) bool { return f.limit == 150<<20 }},
		{"max_duration", func(c *Config) { c.Data.MaxDuration = 0.5 }, func(f figures) bool { return f.arenas < as.arenas }},
	} {
		if f := planned(c.change); !c.holds(f) {
			t.Errorf("%s: %+v; without it %+v", c.name, f, as)
		}
	}
	for every, cleared := range map[int]int{0: 0, 1: 4, 2: 2} {
		c := elsewhere(t, cfg)
		c.Run.CacheClearEvery = every
		r := startBare(t, c, nil)
		mustLoop(t, r)
		if r.cleared != cleared {
			t.Errorf("cache_clear_every %d: cleared %d times in 4 updates, want %d", every, r.cleared, cleared)
		}
	}
	for log, lines := range map[string]int{"off": 0, "batch": 4} {
		c := elsewhere(t, cfg)
		c.Run.MemoryLog = log
		if said := mustRun(t, c); strings.Count(said, " Batch ") != lines || (log == "off") == strings.Contains(said, "[CPU Memory]") {
			t.Errorf("memory_log %s:\n%s", log, said)
		}
	}
}

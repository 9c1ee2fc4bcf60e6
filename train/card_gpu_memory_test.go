//go:build gpu

package train

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"konkanitrain/device/cuda/simulated"
	"konkanitrain/internal/testkit"
)

// alike is a run of a small network with few shapes: eight utterances of one length to train on, and one twice as long
// to validate on.
func alike(t *testing.T, samples int) Config {
	t.Helper()
	lines := babble(8, 3, 1)
	for i := range lines {
		lines[i].samples = samples
	}
	cfg := small(tiny(t, speak(t, lines...)))
	cfg.Data.ValManifest = []string{speak(t, spoken{id: "long", text: letters, samples: 2 * samples})}
	cfg.Model.DecoderLayers, cfg.Model.CTCWeight = 1, 0.3
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 4, 1
	return cfg
}

// A simulated card, or the host that it copies from, without memory at every allocation of a run with validation and
// saves, in turn: once, and from there on. Each run ends with the weights of the undisturbed run, or stops for lack of
// memory and is resumed to them.
func TestSimulatedOutOfMemoryAnywhere(t *testing.T) {
	cfg, l := onSimulated(t, alike(t, 8000))
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.CacheClearEvery = 4, 2, 3, 1
	control := l.Control(t)
	none := objects(control)
	straight := elsewhere(t, cfg)
	mustRun(t, straight)
	want := modelOf(t, straight)
	const outOfMemory = 2
	counts := map[string]int{}
	for _, call := range []string{"cuMemAlloc", "cuMemHostAlloc"} {
		counts[call] = int(control.Count(call))
	}
	for call, calls := range counts {
		ended, stopped := 0, 0
		for n := 1; n <= calls; n++ {
			for how, times := range map[string]int{"once": 1, "from there on": 100} {
				c, err := elsewhere(t, cfg), error(nil)
				for range times { // of faults that are due at the same call each takes one
					control.Fail(simulated.Fault{Call: call, N: n, Code: outOfMemory})
				}
				_, err = Run(t.Context(), c, Options{})
				control.Forgive()
				switch what := fmt.Sprintf("%s %d fails %s", call, n, how); {
				case errors.Is(err, ErrOutOfMemory):
					stopped++
					testkit.MustContain(t, err.Error(), "out of memory")
					if len(steps(t, c.Run.CheckpointDir)) == 0 && n > 1 {
						continue // nothing was begun, and what begins now is the undisturbed run
					}
					mustRun(t, withResume(c))
				case err != nil:
					t.Errorf("%s: %v", what, err)
					continue
				default:
					ended++
				}
				testkit.CloseRel(t, "weights when "+call+fmt.Sprintf(" %d fails %s", n, how), modelOf(t, c), want, 1e-5)
			}
		}
		t.Logf("%d times %s: %d runs went on to their end, %d stopped", calls, call, ended, stopped)
		if call == "cuMemAlloc" && ended == 0 || stopped == 0 {
			t.Errorf("%s: %d runs ended, %d stopped", call, ended, stopped)
		}
	}
	if got := objects(control); got != none {
		t.Errorf("held %v at the end, %v at the start", got, none)
	}
}

// Another process takes what a simulated card has free in the middle of a run, just when that has to make its arena
// larger again: the run goes on with smaller micro-batches, says so, and learns the same.
func TestSimulatedCardIsTaken(t *testing.T) {
	cfg, l := onSimulated(t, alike(t, 6*16000))
	cfg.Model.DModel, cfg.Optimizer.MaxUpdates, cfg.Run.EvalEvery = 16, 5, 3
	control := l.Control(t)
	straight := elsewhere(t, cfg)
	mustRun(t, straight)
	var said strings.Builder
	r := start(t, cfg, &said)
	arena := r.replica.Usage().Arenas
	r.hook = atUpdate(2, func() {
		r.replica.Shrink(arena / 2)
		r.pool.Trim()
		for {
			now, err := r.device.Memory()
			if err != nil {
				t.Fatal(err)
			}
			if now.Free == 0 || !control.Take(0, now.Free) {
				break
			}
		}
	})
	mustEnd(t, r)
	testkit.MustContain(t, said.String(), "MEMORY: ", "smaller micro-batches", "An update still has 4 utterances")
	if u := r.replica.Usage(); u.Arenas >= arena || r.reliefs[2] == 0 {
		t.Errorf("the arena has %d bytes and had %d; %v", u.Arenas, arena, r.reliefs)
	}
	testkit.CloseRel(t, "weights", modelOf(t, cfg), modelOf(t, straight), 1e-5)
}

package train

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/device"
	"konkanitrain/device/faulty"
	"konkanitrain/internal/testkit"
)

// Out of memory at every allocation of a run with validation and saves, in turn: once, and from there on. Each run ends
// with the weights of the undisturbed run, or stops for lack of memory and is resumed to them.
func TestOutOfMemoryAnywhere(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 6, 1)...))
	cfg.Data.ValManifest = speak(t, spoken{id: "long", text: letters, samples: 4 * 16000}, spoken{id: "short", text: "abc"})
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 4, 1, 6
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.CacheClearEvery = 2, 3, 2
	calm := faulty.New(device.NewHost(), nil)
	straight := elsewhere(t, cfg)
	if _, err := Run(t.Context(), straight, Options{memory: calm}); err != nil {
		t.Fatal(err)
	}
	want := modelOf(t, straight)
	calls := calm.Calls()
	if calls < 7 {
		t.Fatalf("a run makes %d allocations: this test says little", calls)
	}
	ended, stopped := 0, 0
	for n := 1; n <= calls+2; n++ {
		for name, rule := range map[string]faulty.Rule{"once": faulty.Nth(n), "from there on": faulty.From(n)} {
			c := elsewhere(t, cfg)
			_, err := Run(t.Context(), c, Options{memory: faulty.New(device.NewHost(), rule)})
			switch {
			case errors.Is(err, ErrOutOfMemory):
				stopped++
				c.Run.Resume = "auto"
				if _, err := Run(t.Context(), c, Options{}); err != nil {
					t.Fatalf("allocation %d fails %s, and the run is resumed: %v", n, name, err)
				}
			case err != nil:
				t.Errorf("allocation %d fails %s: %v", n, name, err)
				continue
			default:
				ended++
			}
			testkit.CloseRel(t, fmt.Sprintf("weights when allocation %d fails %s", n, name), modelOf(t, c), want, 1e-5)
		}
	}
	t.Logf("%d allocations: %d runs went on to their end, %d stopped and were resumed", calls, ended, stopped)
	if ended == 0 || stopped == 0 {
		t.Errorf("%d runs ended, %d stopped", ended, stopped)
	}
}

// modelOf is the weights that a run has saved last, without the biases of attention's keys: their gradient is nothing
// but rounding, which Adam scales up to whole steps.
func modelOf(t *testing.T, cfg Config) (all []float32) {
	t.Helper()
	path := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(cfg.Optimizer.MaxUpdates))
	for _, n := range parametersOf(t, path) {
		if !strings.HasSuffix(n.name, "key.bias") {
			all = append(all, n.data...)
		}
	}
	return all
}

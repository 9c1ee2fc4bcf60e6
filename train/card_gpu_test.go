//go:build gpu

package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/device/cuda/simulated"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// onSimulated is a configuration whose run computes on a simulated card, and the libraries of that.
func onSimulated(t *testing.T, cfg Config) (Config, simulated.Libraries) {
	t.Helper()
	l := simulated.Build(t, simulated.Options{})
	cfg.Run.Device, cfg.Run.CUDADriver, cfg.Run.CUDABLAS = "cuda:0", l.Driver, l.BLAS
	return cfg, l
}

// lossesOf are those of the updates in metrics.jsonl.
func lossesOf(t *testing.T, cfg Config) (list []float64) {
	t.Helper()
	for line := range strings.Lines(readFile(t, filepath.Join(cfg.Run.CheckpointDir, "metrics.jsonl"))) {
		var r struct {
			Event string
			Loss  float64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Event == "update" {
			list = append(list, r.Loss)
		}
	}
	return list
}

// A run on a simulated card learns what the run on the CPU learns, validates, saves, resumes, and is recognized with on
// both.
func TestSimulatedRun(t *testing.T) {
	manifest := speak(t, babble(8, 3, 1)...)
	cfg := tiny(t, manifest)
	cfg.Data.ValManifest, cfg.Data.TestManifest = []string{manifest}, []string{manifest}
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.CPUWorkers = 4, 2, 2, 1
	mustRun(t, cfg)
	card, _ := onSimulated(t, elsewhere(t, cfg))
	first := card
	first.Optimizer.MaxUpdates = 2
	said := mustRun(t, first)
	said += mustRun(t, withResume(card))
	testkit.MustContain(t, said, "device: cuda:0, ", "[GPU Memory] Before Validation: Allocated: ", "saved ", "resumed from ", "test set ", "[GPU Memory] Final: ")
	if strings.Contains(said, "leak") || strings.Contains(said, "not bit for bit") {
		t.Errorf("it says:\n%s", said)
	}
	sameLosses(t, lossesOf(t, cfg), lossesOf(t, card), 1e-4) // what rounding becomes in Adam's steps

	// A model is scored alike, wherever it was trained and wherever it is used.
	var scores []float64
	for _, d := range []recognize.DeviceSetting{{Name: "cpu"}, card.Run.device()} {
		m, err := recognize.Load(card.Run.CheckpointDir, recognize.LoadOptions{Device: d, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := m.Evaluate(t.Context(), manifest, recognize.EvaluateOptions{})
		m.Close()
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, float64(e.Loss))
	}
	sameLosses(t, scores[:1], scores[1:], 1e-5)
}

// In half precision a simulated card learns the same within what float16 rounds. The first windows may give no update,
// until the loss scale suits the network.
func TestSimulatedRunInHalf(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 3, 1)...)))
	cfg.Optimizer.MaxUpdates, cfg.Run.CPUWorkers = 8, 1
	mustRun(t, cfg)
	card, _ := onSimulated(t, elsewhere(t, cfg))
	card.Run.FP16, card.Optimizer.MaxUpdates = true, 4
	skipped := strings.Count(mustRun(t, card), "no update: its gradient is not finite; the loss scale is ")
	if skipped > 4 {
		t.Fatalf("%d windows gave no update", skipped)
	}
	// The rate is still so small that an update more or less changes losses by less than the bound.
	sameLosses(t, lossesOf(t, cfg)[skipped:][:4], lossesOf(t, card), 3e-2)
}

// sameLosses holds losses to those of the CPU.
func sameLosses(t *testing.T, want, got []float64, bound float64) {
	t.Helper()
	if len(want) == 0 || len(want) != len(got) {
		t.Fatalf("losses %v on the CPU, %v on the card", want, got)
	}
	for i := range want {
		if d := math.Abs(want[i]-got[i]) / want[i]; !(d < bound) {
			t.Errorf("loss %d: %v on the CPU, %v on the card", i+1, want[i], got[i])
		}
	}
}

// Under a limit a run on a simulated card measures what ops cost there and is fitted; a profile says where the time of
// a step goes.
func TestSimulatedCardIsMeasured(t *testing.T) {
	cfg, _ := onSimulated(t, plain(tiny(t, speak(t, append(babble(8, 3, 1), spoken{id: "long", text: letters, samples: 4 * 16000})...))))
	cfg.Optimizer.MaxUpdates = 2
	var said strings.Builder
	r, err := setUp(t.Context(), cfg, Options{Out: &said})
	if err != nil {
		t.Fatal(err)
	}
	u, arena := r.pool.Usage(), r.replica.Usage().Arenas
	r.close()
	tight := elsewhere(t, cfg)
	tight.Run.MemoryLimit = fmt.Sprint(u.Allocated+u.Held-arena/3, "B")
	testkit.MustContain(t, mustRun(t, tight), "memory: fitted to ", " s  fits\n", "recompute of ")
	measured := elsewhere(t, cfg)
	measured.Run.ProfileSteps = 1
	testkit.MustContain(t, mustRun(t, measured), "limits of Tesla T4 in this build: ", "attention.relative.grad", "all ops")
}

// A simulated card whose context is lost in the middle of a run ends it with what was learned saved; the run that goes
// on is, bit for bit, the one without the failure.
func TestSimulatedCardFails(t *testing.T) {
	cfg, l := onSimulated(t, plain(tiny(t, speak(t, babble(8, 3, 1)...))))
	control := l.Control(t)
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.SnapshotEvery = 6, 1000, 2
	mustRun(t, cfg)
	failed := elsewhere(t, cfg)
	r := start(t, failed, nil)
	r.hook = atUpdate(5, func() {
		control.Fail(simulated.Fault{Call: simulated.Any, Code: 719, Sticky: true})
	})
	err := r.ending(t.Context())
	testkit.MustFail(t, err, "the card failed: ", "719", "step-00000004; ", "made again: konkanitrain --checkpoint_dir "+failed.Run.CheckpointDir+" --resume auto")
	if !errors.Is(err, ErrCardLost) {
		t.Errorf("%v is no ErrCardLost", err)
	}
	r.close()
	mustRun(t, withResume(failed))
	for _, file := range []string{"model.safetensors", "optimizer.safetensors"} {
		if readFile(t, stepFile(cfg, 6, file)) != readFile(t, stepFile(failed, 6, file)) {
			t.Errorf("%s is another one after a failure", file)
		}
	}
}

// Memory that another program takes on a simulated card is named, and the run goes on with less, or saves and ends.
func TestSimulatedCardWithOthers(t *testing.T) {
	cfg, l := onSimulated(t, plain(tiny(t, speak(t, append(babble(8, 3, 1), spoken{id: "long", text: letters, samples: 4 * 16000})...))))
	control := l.Control(t)
	cfg.Optimizer.MaxUpdates = 2
	var said strings.Builder
	r, err := setUp(t.Context(), cfg, Options{Out: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	now, err := r.device.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if !control.Take(0, now.Free-(1<<20)) {
		t.Fatal("the card has less than it says")
	}
	defer control.Take(0, -(now.Free - (1 << 20)))
	if users := r.device.OtherUsers(); len(users) == 0 || !strings.Contains(users[0], " in use") && !strings.Contains(users[0], "other programs use") {
		t.Errorf("who uses the card: %q", users)
	}
	mustLoop(t, r)
	testkit.MustContain(t, r.memoryNow().String(), " | Other: ")
}

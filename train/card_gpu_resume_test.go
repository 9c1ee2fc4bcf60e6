//go:build gpu

package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/internal/rangetest"
	"konkanitrain/internal/testkit"
	"konkanitrain/op"
	"konkanitrain/recognize"
)

// Ten updates straight on a simulated card are five, and five in another session, bit for bit, with everything random
// turned on.
func TestSimulatedResume(t *testing.T) {
	manifest := speak(t, babble(13, 4, 1)...)
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprintf("fp16 %v", half), func(t *testing.T) {
			cfg, _ := onSimulated(t, tiny(t, manifest))
			cfg.Data.ValManifest, cfg.Run.FP16 = []string{manifest}, half
			if half {
				cfg.Optimizer.EMADecay = 0.99
			}
			cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery, cfg.Run.EvalEvery = 10, 5, 5
			straight, _ := traced(t, cfg, io.Discard)
			parts := elsewhere(t, cfg)
			parts.Optimizer.MaxUpdates = 5
			first, _ := traced(t, parts, io.Discard)
			parts.Optimizer.MaxUpdates = 10
			var said strings.Builder
			second, _ := traced(t, withResume(parts), &said)
			if strings.Contains(said.String(), "bit for bit") || !slices.Equal(straight, append(first, second...)) {
				t.Errorf("the windows are others, or it says so:\n%s", said.String())
			}
			mustEqualRun(t, parts.Run.CheckpointDir, cfg.Run.CheckpointDir, 10)
		})
	}
}

// How a simulated card is used changes no bit of what is learned: with graphs, without, where each
// kernel is waited for, and measured step by step.
func TestSimulatedWays(t *testing.T) {
	cfg, l := onSimulated(t, konkani(t))
	cfg.Optimizer.MaxUpdates = 6
	for _, half := range []bool{false, true} {
		cfg.Run.FP16 = half
		learned := func(c Config, o cuda.Options) []float32 {
			o.Driver, o.BLAS = l.Driver, l.BLAS
			card, err := cuda.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := card.Load(op.Modules()); err != nil {
				t.Fatal(err)
			}
			r, err := setUp(t.Context(), elsewhere(t, c), Options{Device: &recognize.Device{Name: "cuda:0", Card: card}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			if half {
				r.updater.LossScale.Scale = 64
			}
			mustLoop(t, r)
			if graphs := card.Counters().Graphs > 0; graphs == (o.NoGraphs || o.Sync) {
				t.Errorf("graphs have run: %v", graphs)
			}
			return everything(t, r)
		}
		want := learned(cfg, cuda.Options{})
		if !slices.Equal(want, learned(cfg, cuda.Options{NoGraphs: true})) {
			t.Errorf("fp16 %v: graphs change what is learned", half)
		}
		if !slices.Equal(want, learned(cfg, cuda.Options{Sync: true})) {
			t.Errorf("fp16 %v: waiting for each kernel changes what is learned", half)
		}
		measured := cfg
		measured.Run.ProfileSteps = 6
		if !slices.Equal(want, learned(measured, cuda.Options{})) {
			t.Errorf("fp16 %v: measuring changes what is learned", half)
		}
	}
}

// A profile of a run on a simulated card names the operations.
func TestSimulatedProfile(t *testing.T) {
	cfg, _ := onSimulated(t, tiny(t, speak(t, babble(8, 3, 1)...)))
	cfg.Run.ProfileSteps = 2
	testkit.MustContain(t, mustRun(t, cfg), "attention", "linear", "depthwise")
}

// A range test on a simulated card has the rates of the test and the losses of the CPU, as long as these hardly move.
func TestSimulatedFindLR(t *testing.T) {
	cpu := tiny(t, speak(t, babble(8, 3, 1)...))
	cpu.Run.FindLR, cpu.Run.CPUWorkers = true, 1
	card, _ := onSimulated(t, elsewhere(t, cpu))
	var results []rangetest.Result
	for _, cfg := range []Config{cpu, card} {
		r := start(t, cfg, nil)
		ctx, stop := context.WithCancel(t.Context())
		r.hook = atUpdate(6, stop)
		if err := r.loop(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		results = append(results, foundIn(t, cfg.Run.CheckpointDir))
	}
	if !slices.Equal(results[0].Rates, results[1].Rates) || len(results[0].Rates) != 6 {
		t.Errorf("rates %v on the CPU, %v on the card", results[0].Rates, results[1].Rates)
	}
	sameLosses(t, results[0].Losses, results[1].Losses, 1e-4) // products round otherwise, and updates of 1e-6 carry that on
}

// A run goes on from a checkpoint of the CPU on a simulated card, and the other way round: it says that results aren't
// the same bit for bit, and learns what the run that stays learns.
func TestSimulatedMoves(t *testing.T) {
	cpu := tiny(t, speak(t, babble(13, 4, 1)...))
	cpu.Optimizer.MaxUpdates, cpu.Run.CPUWorkers = 10, 1
	mustRun(t, cpu)
	want := lossesOf(t, cpu)
	for _, there := range []bool{true, false} {
		first := elsewhere(t, cpu)
		second, _ := onSimulated(t, first)
		if !there {
			first, second = second, first
		}
		first.Optimizer.MaxUpdates = 5
		mustRun(t, first)
		said := mustRun(t, withResume(second))
		mustContainOnce(t, said, "NOTE: this run computes with the kernels ", "so the run is not bit for bit the uninterrupted one", "5 updates done")
		sameLosses(t, want, lossesOf(t, second), 1e-3)
		if model := modelOf(t, second); len(model) == 0 {
			t.Error("nothing is saved")
		}
	}
}

package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

func TestLearningRateFollowsTheSchedule(t *testing.T) {
	var example struct {
		Warmup int                `json:"warmup"`
		Ratio  map[string]float64 `json:"ratio_to_peak"`
	}
	numbers(t, "schedule.json", &example)
	for key, want := range example.Ratio {
		update, err := strconv.Atoi(key)
		if err != nil {
			t.Fatal(err)
		}
		if got := LearningRate(2, example.Warmup, update) / 2; !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("update %d: %v of the peak, want %v", update, got, want)
		}
	}
}

// The rate belongs to the number of the update, whatever the accumulation, and goes on after a resume.
func TestLearningRateCountsUpdates(t *testing.T) {
	manifest := speak(t, babble(17, 4, 1)...)
	for _, accum := range []int{1, 4, 8} {
		cfg := plain(tiny(t, manifest))
		cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.WarmupUpdates = 1, accum, 3
		for _, until := range []int{4, 9} {
			cfg.Optimizer.MaxUpdates = until
			run, err := setUp(t.Context(), cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			run.hook = func(update int) {
				want := cfg.Optimizer.LearningRate * min(float64(update)/3, math.Sqrt(3/float64(update)))
				if !(math.Abs(run.optimizer.LR-want) <= 1e-15) {
					t.Errorf("accumulation %d, update %d: rate %v, want %v", accum, update, run.optimizer.LR, want)
				}
			}
			if err := run.loop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := run.finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if run.optimizer.Updates != until {
				t.Errorf("%d updates, want %d", run.optimizer.Updates, until)
			}
			run.close()
			cfg.Run.Resume = "auto"
		}
	}
}

// adam is an optimizer for parameters of its own.
func adam(t testing.TB, decay float64, params ...model.Parameter) (*AdamW, *engine.Crew) {
	t.Helper()
	var names []string
	var shapes []tensor.Shape
	for _, p := range params {
		names, shapes = append(names, p.Name), append(shapes, p.Shape)
	}
	layout, err := engine.NewLayout(names, shapes)
	if err != nil {
		t.Fatal(err)
	}
	dev := device.NewHost()
	a, err := NewAdamW(dev, layout, params, decay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	crew, err := engine.NewCrew(dev, 2, layout, nil, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(crew.Close)
	return a, crew
}

func TestAdamWByHand(t *testing.T) {
	type step struct{ Grad, M, V, W float64 }
	var example struct {
		LR            float64
		DecayedWeight []step `json:"decayed_weight"`
		Bias          []step
	}
	numbers(t, "adamw.json", &example)
	a, crew := adam(t, 1e-3, model.Parameter{Name: "x.weight", Shape: tensor.Shape{1}, Decay: true}, model.Parameter{Name: "x.bias", Shape: tensor.Shape{1}})
	a.LR = example.LR
	weights, grads := make([]float32, a.layout.Words), make([]float32, a.layout.Words)
	at := []int{0, a.layout.Tensors[1].Offset}
	weights[at[0]], weights[at[1]] = 1, 1
	for k := range example.Bias {
		lines := []step{example.DecayedWeight[k], example.Bias[k]}
		for i, s := range lines {
			grads[at[i]] = float32(s.Grad)
		}
		if err := a.Update(crew, weights, grads); err != nil {
			t.Fatal(err)
		}
		for i, s := range lines {
			got := []float64{float64(weights[at[i]]), float64(a.moments[0].Floats()[at[i]]), float64(a.moments[1].Floats()[at[i]])}
			// Three roundings of float32 near 1.
			testkit.Close(t, fmt.Sprintf("update %d of parameter %d: weight, m, v", k+1, i), got, []float64{s.W, s.M, s.V}, 2e-7)
		}
	}
}

// valueGrad is a parameter as Gorgonia hands it to a solver.
type valueGrad struct{ value, grad G.Value }

func (v valueGrad) Value() G.Value         { return v.value }
func (v valueGrad) Grad() (G.Value, error) { return v.grad, nil }

// Ten updates of the PyTorch reference, clipped and not, through the flat buffers and as a Gorgonia solver.
func TestAdamWIsTheReferences(t *testing.T) {
	for _, way := range []string{"flat", "solver"} {
		t.Run(way, func(t *testing.T) {
			f := testkit.Golden(t, "optimizer")
			read := func(name string) []float64 {
				v, _, err := f.Float64s(name)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			params := goldenParameters(t, f)
			set := func(key string) (v float64) {
				if err := json.Unmarshal([]byte(f.Metadata()[key]), &v); err != nil {
					t.Fatalf("%s: %v in %v", key, err, f.Metadata())
				}
				return v
			}
			a, crew := adam(t, set("weight_decay"), params...)
			weights, grads := make([]float32, a.layout.Words), make([]float32, a.layout.Words)
			for _, p := range params {
				copyFloats(a.layout.View(weights, p.Name), read("start."+p.Name))
			}
			norms, clips, rates := read("norm"), read("clip_scale"), read("lr")
			for k := range norms {
				for _, p := range params {
					copyFloats(a.layout.View(grads, p.Name), read(fmt.Sprintf("update.%02d.grad.%s", k+1, p.Name)))
				}
				norm, err := a.Norm(crew, grads)
				if err != nil {
					t.Fatal(err)
				}
				a.GradScale = ClipScale(norm, set("clip"))
				a.LR = LearningRate(set("peak"), int(set("warmup")), k+1)
				testkit.Close(t, "norm, clip, rate", []float64{norm / norms[k], a.GradScale, a.LR}, []float64{1, clips[k], rates[k]}, 1e-6)
				if way == "flat" {
					err = a.Update(crew, weights, grads)
				} else {
					err = a.Step(valueGrads(a, weights, grads))
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range params {
					for what, flat := range map[string][]float32{"weight": weights, "m": a.moments[0].Floats(), "v": a.moments[1].Floats()} {
						want := read(fmt.Sprintf("update.%02d.%s.%s", k+1, what, p.Name))
						got := make([]float64, len(want))
						for i, v := range a.layout.View(flat, p.Name) {
							got[i] = float64(v)
						}
						// Ten updates of up to 0.3 each on values near 1.
						testkit.Close(t, fmt.Sprintf("update %d: %s of %s", k+1, what, p.Name), got, want, 1e-5)
					}
				}
			}
		})
	}
}

// goldenParameters are those of the file; decay follows from their names, as in the network.
func goldenParameters(t testing.TB, f *safetensors.File) []model.Parameter {
	t.Helper()
	var params []model.Parameter
	for _, name := range f.Names() {
		if len(name) < 7 || name[:6] != "start." {
			continue
		}
		info, _ := f.Info(name)
		params = append(params, model.Parameter{Name: name[6:], Shape: tensor.Shape(info.Shape)})
	}
	known := model.Parameters(model.Config{DModel: 16, Heads: 2, EncoderLayers: 2, DecoderLayers: 1, ConvKernel: 5, Subsampling: 4, SubsampleChannels: 4, NumMels: 20, Vocab: 11})
	for i := range params {
		at := slices.IndexFunc(known, func(p model.Parameter) bool { return p.Name == params[i].Name })
		if at < 0 {
			t.Fatalf("the network has no parameter %s", params[i].Name)
		}
		params[i].Decay = known[at].Decay
	}
	if len(params) != 5 {
		t.Fatalf("%d parameters in the file, want 5", len(params))
	}
	return params
}

func copyFloats(dst []float32, src []float64) {
	for i, v := range src {
		dst[i] = float32(v)
	}
}

func valueGrads(a *AdamW, weights, grads []float32) []G.ValueGrad {
	var v []G.ValueGrad
	for _, p := range a.params {
		dense := func(flat []float32) *tensor.Dense {
			return tensor.New(tensor.WithShape(p.Shape...), tensor.WithBacking(a.layout.View(flat, p.Name)))
		}
		v = append(v, valueGrad{dense(weights), dense(grads)})
	}
	return v
}

func TestSolverRefusesOtherParameters(t *testing.T) {
	a, _ := adam(t, 0, model.Parameter{Name: "x", Shape: tensor.Shape{2}})
	if err := a.Step(nil); err == nil {
		t.Error("no values were accepted for one parameter")
	}
	wrong := tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{1, 2, 3}))
	if err := a.Step([]G.ValueGrad{valueGrad{wrong, wrong}}); err == nil {
		t.Error("three values were accepted for two")
	} else {
		mustContain(t, err.Error(), "x has 3 values")
	}
	if a.Updates != 0 {
		t.Error("a refused step was counted")
	}
}

func TestClipping(t *testing.T) {
	a, crew := adam(t, 0, model.Parameter{Name: "x", Shape: tensor.Shape{2}})
	grads := make([]float32, a.layout.Words)
	grads[0], grads[1] = 6, 8
	norm, err := a.Norm(crew, grads)
	if err != nil || norm != 10 {
		t.Fatalf("norm is %v, %v, want 10", norm, err)
	}
	scale := ClipScale(norm, 5)
	// The 1e-6 beside the norm takes a ten-millionth away.
	testkit.Close(t, "clipped", []float64{6 * scale, 8 * scale}, []float64{3, 4}, 1e-6)
	if s := ClipScale(4, 5); s != 1 {
		t.Errorf("a gradient below the limit is scaled by %v", s)
	}
}

package update

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// golden is a network of the PyTorch reference with its inputs and results.
type golden struct {
	*testkit.Tensors
	t      *testing.T
	net    model.Config
	window []*data.Example
	shape  model.Shape
}

func openGolden(t *testing.T, name string) *golden {
	t.Helper()
	g := &golden{Tensors: testkit.Golden(t, name), t: t}
	meta := g.Metadata()
	number := func(key string) float64 {
		var v float64
		if err := json.Unmarshal([]byte(meta[key]), &v); err != nil {
			t.Fatalf("%s: setting %s is %q", name, key, meta[key])
		}
		return v
	}
	g.net = model.Config{
		DModel: int(number("d_model")), Heads: int(number("heads")), EncoderLayers: int(number("encoder_layers")),
		DecoderLayers: int(number("decoder_layers")), ConvKernel: int(number("kernel")), Subsampling: int(number("subsample_factor")),
		SubsampleChannels: int(number("subsample_channels")), NumMels: int(number("features")), Vocab: int(number("vocab")),
		CTCWeight: number("ctc_weight"), LabelSmoothing: number("label_smoothing"),
	}
	x, shape := g.floats("input.x")
	lengths, targets, targetLengths := g.ints("input.lengths"), g.ints("input.targets"), g.ints("input.target_lengths")
	tokens := len(targets) / shape[0]
	g.shape = model.Shape{Batch: shape[0], Frames: shape[1], Tokens: max(1, tokens)}
	for b := range shape[0] {
		e := noise(b, int(lengths[b]), g.net.NumMels)
		e.Features = x[b*shape[1]*shape[2]:][:shape[1]*shape[2]] // the padding holds noise
		for _, v := range targets[b*tokens:][:targetLengths[b]] {
			e.Tokens = append(e.Tokens, int32(v))
		}
		g.window = append(g.window, e)
	}
	return g
}

func (g *golden) floats(name string) ([]float32, []int) {
	g.t.Helper()
	v, shape, err := g.Floats(name)
	if err != nil {
		g.t.Fatal(err)
	}
	return v, shape
}

func (g *golden) ints(name string) []int64 {
	g.t.Helper()
	v, _, err := g.Ints(name)
	if err != nil {
		g.t.Fatal(err)
	}
	return v
}

// load starts a replica with the reference's weights.
func (g *golden) load(replica Replica) *rig {
	g.t.Helper()
	r := rigOf(g.t, g.net, replica)
	for _, p := range model.Parameters(g.net) {
		r.edit(engine.Weights, p.Name, func(w []float32) {
			want, _ := g.floats("weight." + p.Name)
			copy(w, want)
		})
	}
	return r
}

// TestGolden holds losses and every gradient to the PyTorch reference: in one batch with noise in the padding, and
// split into single utterances on two workers.
func TestGolden(t *testing.T) {
	for _, name := range []string{"model_f2", "model_f4", "model_f8", "model_f4_ctc_only"} {
		t.Run(name, func(t *testing.T) {
			g := openGolden(t, name)
			r := g.load(newCrew(t, g.net, 2))
			g.check(r, []microBatch{{rows: []int{0, 1, 2, 3}, shape: g.shape}})
			var single []microBatch
			for i, e := range g.window {
				shape := model.Shape{Batch: 1, Frames: e.Frames + 5, Tokens: max(1, len(e.Tokens))}
				single = append(single, microBatch{rows: []int{i}, shape: shape, worker: i % 2})
				e.Features = e.Features[:e.Frames*g.net.NumMels]
			}
			g.check(r, single)
		})
	}
}

func (g *golden) check(r *rig, batches []microBatch) {
	t := g.t
	t.Helper()
	losses := r.pass(g.window, batches, Ask{Scale: 1 / float64(len(g.window))})
	feasible := g.ints("loss.feasible")
	for i, l := range losses {
		for what, v := range map[string]float64{"ctc": l.CTC, "ce": l.CE, "utterance": l.Total} {
			want, _, err := g.Float64s("loss64." + what)
			if err != nil {
				continue // no cross-entropy without a decoder
			}
			// float32 runs of the reference itself are off by 1.2e-7; ten times that is left for another order of sums.
			if d := math.Abs(v - want[i]); !(d <= 2e-6*math.Max(math.Abs(want[i]), 1)) {
				t.Errorf("loss %s of utterance %d is %v, want %v", what, i, v, want[i])
			}
		}
		if l.Infeasible != (feasible[i] == 0) {
			t.Errorf("utterance %d: infeasible is %v", i, l.Infeasible)
		}
	}
	grads := r.reduced()
	largest := 0.0
	for name := range grads {
		want, _ := g.floats("grad." + name)
		for _, v := range want {
			largest = max(largest, math.Abs(float64(v)))
		}
	}
	for name, got := range grads {
		want, _ := g.floats("grad." + name)
		if d := testkit.MaxAbs(got, want); !(d <= 1e-5*largest) {
			t.Errorf("gradient of %s is off by %.2g of the model's largest gradient", name, d/largest)
		}
		// The gradient of key biases is 0 in exact arithmetic: only the absolute bound makes sense there.
		if strings.HasSuffix(name, ".key.bias") {
			continue
		}
		if d := testkit.RelErr(got, want); !(d <= 1e-5) {
			t.Errorf("gradient of %s is off by %.2g of its norm", name, d)
		}
	}
}

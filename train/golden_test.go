package train

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// golden is a network of the PyTorch reference with its inputs and results.
type golden struct {
	*safetensors.File
	t        *testing.T
	net      model.Config
	examples []*data.Example
	shape    model.Shape
}

func openGolden(t *testing.T, name string) *golden {
	t.Helper()
	g := &golden{File: testkit.Golden(t, name), t: t}
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
		e := &data.Example{Utt: &data.Utterance{ID: fmt.Sprint(b), Key: uint64(b)}, Frames: int(lengths[b])}
		e.Features = x[b*shape[1]*shape[2]:][:shape[1]*shape[2]] // the padding holds noise
		for _, v := range targets[b*tokens:][:targetLengths[b]] {
			e.Tokens = append(e.Tokens, int32(v))
		}
		g.examples = append(g.examples, e)
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

// load makes a core with the reference's weights.
func (g *golden) load(workers int, half bool) *core {
	g.t.Helper()
	c, err := newCore(device.NewHost(), g.net, workers, true, half)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(c.close)
	for _, p := range c.params {
		if err := g.ReadFloat32("weight."+p.Name, c.layout.View(c.weights.Floats(), p.Name)); err != nil {
			g.t.Fatal(err)
		}
	}
	return c
}

// TestGolden holds losses and every gradient to the PyTorch reference: in one batch with noise in the padding,
// and split into single utterances on two workers.
func TestGolden(t *testing.T) {
	for _, name := range []string{"model_f2", "model_f4", "model_f8", "model_f4_ctc_only"} {
		t.Run(name, func(t *testing.T) {
			g := openGolden(t, name)
			c := g.load(2, false)
			whole := []microBatch{{rows: []int{0, 1, 2, 3}, shape: g.shape}}
			g.check(c, whole)
			var single []microBatch
			for i, e := range g.examples {
				single = append(single, microBatch{rows: []int{i}, shape: model.Shape{Batch: 1, Frames: e.Frames + 5, Tokens: max(1, len(e.Tokens))}, worker: i % 2})
				e.Features = e.Features[:e.Frames*g.net.NumMels]
			}
			g.check(c, single)
		})
	}
}

func (g *golden) check(c *core, batches []microBatch) {
	t := g.t
	t.Helper()
	p := &pass{train: true, scale: 1 / float32(len(g.examples)), losses: make([]rowLoss, len(g.examples))}
	if err := c.run(g.examples, batches, p); err != nil {
		t.Fatal(err)
	}
	grads, _, err := c.crew.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	feasible := g.ints("loss.feasible")
	for i, l := range p.losses {
		for what, v := range map[string]float64{"ctc": l.ctc, "ce": l.ce, "utterance": l.total} {
			want, _, err := g.Float64s("loss64." + what)
			if err != nil {
				continue // no cross-entropy without a decoder
			}
			// float32 runs of the reference itself are off by 1.2e-7; ten times that is left for another order of sums.
			if d := math.Abs(v - want[i]); !(d <= 2e-6*math.Max(math.Abs(want[i]), 1)) {
				t.Errorf("loss %s of utterance %d is %v, want %v", what, i, v, want[i])
			}
		}
		if l.infeasible != (feasible[i] == 0) {
			t.Errorf("utterance %d: infeasible is %v", i, l.infeasible)
		}
	}
	largest := 0.0
	for _, p := range c.params {
		want, _ := g.floats("grad." + p.Name)
		for _, v := range want {
			largest = max(largest, math.Abs(float64(v)))
		}
	}
	for _, p := range c.params {
		want, _ := g.floats("grad." + p.Name)
		got := c.layout.View(grads, p.Name)
		if d := testkit.MaxAbs(got, want); !(d <= 1e-5*largest) {
			t.Errorf("gradient of %s is off by %.2g of the model's largest gradient", p.Name, d/largest)
		}
		// The gradient of key biases is 0 in exact arithmetic: only the absolute bound makes sense there.
		if strings.HasSuffix(p.Name, ".key.bias") {
			continue
		}
		if d := testkit.RelErr(got, want); d > 1e-5 {
			t.Errorf("gradient of %s is off by %.2g of its norm", p.Name, d)
		}
	}
}

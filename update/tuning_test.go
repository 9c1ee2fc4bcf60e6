package update

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/engine"
	"konkanitrain/internal/patterns"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
)

// slowly is a factor with which no weight of a network moves: the step is below half of its last place.
const slowly = 1e-30

// freezings are parts of a network of two encoder blocks and one decoder block.
var freezings = [][]string{
	{"encoder"}, {"encoder.subsample"}, {"encoder.blocks.0", "encoder.subsample"}, {"encoder.blocks.1"}, {"decoder"}, {"ctc"},
	{"encoder", "ctc"}, {"decoder.embed", "encoder.blocks.0.ffn1.up.weight"},
}

// A frozen part keeps its bits, and what learns beside it learns what it does beside a part that has gradients and
// moments and doesn't move: the same losses, weights and moments, to the bit. Clipping is off, as the norm of what is
// learned is another one.
func TestFrozenPartsAreAsIfTheyStoodStill(t *testing.T) {
	net := tinyNetwork(4, 1)
	window := windowOfFour(net)
	for _, freeze := range freezings {
		t.Run(strings.Join(freeze, ","), func(t *testing.T) {
			frozen := Tuning{Freeze: freeze}
			var still Tuning
			for _, prefix := range freeze {
				still.Scales = append(still.Scales, patterns.Rule{Pattern: prefix, Value: slowly})
			}
			o := Options{BatchSize: 2, Seed: 3, Rate: noam(1e-2, 1), WeightDecay: 0.1, GradClip: math.MaxFloat64}
			var rigs []*rig
			var losses [2][]float64
			var starts []float32
			for i, tuning := range []Tuning{frozen, still} {
				r := rigOf(t, net, crewWith(t, net, 2, tuning))
				starts = r.all(engine.Weights)
				u := New(net, r.Replica, o)
				for range 3 {
					out, err := u.Update(window)
					if err != nil || out.Skipped != Made {
						t.Fatal(out, err)
					}
					losses[i] = append(losses[i], out.Loss, out.CTC, out.CE)
				}
				rigs = append(rigs, r)
			}
			if !slices.Equal(losses[0], losses[1]) {
				t.Errorf("losses are %v, want %v", losses[0], losses[1])
			}
			for _, p := range model.Parameters(net) {
				got, want, start := rigs[0].read(engine.Weights, p.Name), rigs[1].read(engine.Weights, p.Name), starts[:p.Size()]
				starts = starts[p.Size():]
				if !slices.Equal(got, want) {
					t.Errorf("weights of %s are others", p.Name)
				}
				if slices.Equal(got, start) != frozen.Frozen(p.Name) {
					t.Errorf("%s has changed: %v", p.Name, frozen.Frozen(p.Name))
				}
				if frozen.Frozen(p.Name) {
					testkit.MustFail(t, rigs[0].Export(engine.FirstMoments, p.Name, nil), p.Name+" is frozen: it has no gradient, no moments")
					continue
				}
				for of := engine.FirstMoments; of <= engine.SecondMoments; of++ {
					if !slices.Equal(rigs[0].read(of, p.Name), rigs[1].read(of, p.Name)) {
						t.Errorf("moments of %s are others", p.Name)
					}
				}
			}
		})
	}
}

// In half precision, and where values are computed again, frozen parts keep their bits too, and the rest learns.
func TestFrozenPartsInOtherWays(t *testing.T) {
	net := tinyNetwork(4, 1)
	for _, half := range []bool{false, true} {
		for _, way := range []engine.Recompute{engine.RecomputeBlocks, engine.RecomputeAll} {
			tuning := Tuning{Freeze: []string{"encoder.subsample", "encoder.blocks.0", "decoder.embed"}}
			r := rigOf(t, net, crewWith(t, net, 2, tuning))
			before := map[string][]float32{}
			for _, p := range model.Parameters(net) {
				before[p.Name] = r.read(engine.Weights, p.Name)
			}
			u := New(net, r.Replica, Options{BatchSize: 2, Half: half, Seed: 3, Rate: noam(1e-2, 1), WeightDecay: 0.1, GradClip: 5})
			u.LossScale.Scale, u.Runner.Fit.Recompute = 1024, []engine.Recompute{way}
			for range 2 {
				mustUpdate(t, u, windowOfFour(net))
			}
			for _, p := range model.Parameters(net) {
				if slices.Equal(r.read(engine.Weights, p.Name), before[p.Name]) != tuning.Frozen(p.Name) {
					t.Errorf("half precision %v, recompute %s: %s has changed: %v", half, way, p.Name, tuning.Frozen(p.Name))
				}
			}
		}
	}
}

// Of the backward pass nothing is compiled that only a frozen part needs: no gradient of its products, and nothing
// below the lowest part that learns. Nothing below is computed again for it, nor kept.
func TestFrozenPartsHaveNoBackwardPass(t *testing.T) {
	net := tinyNetwork(4, 1)
	shape := model.Shape{Batch: 2, Frames: 100, Tokens: 10}
	programOf := func(target op.Target, tuning Tuning, way engine.Recompute) *engine.Program {
		network, err := NetworkOn(target, net, tuning)
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.NewLibrary(network).Program(Variant{Shape: shape, Purpose: model.Training, Recompute: way})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, target := range []op.Target{op.CPU, op.CUDA} {
		for _, way := range []engine.Recompute{engine.RecomputeNone, engine.RecomputeBlocks, engine.RecomputeAll} {
			all := programOf(target, Tuning{}, way)
			for _, c := range []struct {
				freeze []string
				none   string  // begins no place of the backward pass
				most   float64 // share of the FLOPs that are left
			}{
				{[]string{"encoder"}, "encoder", 0.5},
				{[]string{"encoder.subsample", "encoder.blocks.0"}, "encoder.blocks.0", 0.75},
				{[]string{"encoder.subsample"}, "encoder.subsample", 0.99},
				{[]string{"decoder"}, "decoder.blocks.9", 0.98}, // its gradients go through to the encoder
			} {
				p := programOf(target, Tuning{Freeze: c.freeze}, way)
				for _, s := range p.Steps {
					weights := strings.HasPrefix(s.Op.Name, "linear.grad.weight") || s.Op.Name == "columnsum"
					if s.Backward && patterns.Match(c.none, s.Op.Place) || weights && (Tuning{Freeze: c.freeze}).Frozen(s.Op.Place) {
						t.Errorf("%s, %s: freeze %v leaves %s at %s", target, way, c.freeze, s.Op.Name, s.Op.Place)
					}
				}
				for _, name := range p.Grads {
					if (Tuning{Freeze: c.freeze}).Frozen(name) {
						t.Errorf("freeze %v leaves the gradient of %s", c.freeze, name)
					}
				}
				if share := p.FLOPs() / all.FLOPs(); share > c.most {
					t.Errorf("%s, %s: freeze %v leaves %.2f of the operations, want at most %.2f", target, way, c.freeze, share, c.most)
				}
				if p.Plan.Size > all.Plan.Size {
					t.Errorf("%s, %s: freeze %v makes an arena of %d bytes of one of %d", target, way, c.freeze, p.Plan.Size, all.Plan.Size)
				}
			}
		}
	}
}

func TestTuning(t *testing.T) {
	scales, err := ParseScales([]string{"encoder=0.1", "encoder.blocks.1=3", "encoder.blocks.1.ffn1=1e-3"})
	if err != nil {
		t.Fatal(err)
	}
	tuning := Tuning{Freeze: []string{"ctc", "encoder.blocks.0"}, Scales: scales}
	for name, want := range map[string]float64{
		"ctc.bias": 1, "encoder.subsample.proj.bias": 0.1, "encoder.blocks.1.norm.weight": 3, "encoder.blocks.1.ffn1.up.bias": 1e-3,
		"encoder.blocks.10.norm.bias": 0.1, "decoder.embed.weight": 1,
	} {
		if got := tuning.Scale(name); got != want {
			t.Errorf("the factor of %s is %g, want %g", name, got, want)
		}
	}
	for name, want := range map[string]bool{"ctc.bias": true, "encoder.blocks.0.norm.bias": true, "encoder.blocks.01": false, "ctcs": false, "ct": false} {
		if tuning.Frozen(name) != want {
			t.Errorf("%s is frozen: %v", name, !want)
		}
	}
	for text, want := range map[string]string{
		"encoder": "write PATTERN=FACTOR, such as encoder=0.1", "a=x": "no factor", "a=-1": "the factor is -1, want a number above 0", "a=0": "--freeze a",
		"encoder=0.2": "lr_scale gives encoder two values, 0.1 and 0.2",
	} {
		_, err := ParseScales([]string{"encoder=0.1", text})
		testkit.MustFail(t, err, want)
	}
	tuning.Decays, err = ParseDecays([]string{"*.blocks=0.5", "encoder.blocks.*.ffn1=0"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]engine.OwnDecay{
		"ctc.weight": {}, "encoder.blocks.3.attn.out.weight": {Set: true, Value: 0.5}, "encoder.blocks.3.ffn1.up.weight": {Set: true},
		"decoder.blocks.0.ffn.up.weight": {Set: true, Value: 0.5},
	} {
		if got := tuning.Decay(name); got != want {
			t.Errorf("the decay of %s is %+v, want %+v", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"encoder": "write PATTERN=DECAY, such as decoder=0.01", "a=-1": "the decay is -1, want 0 or more and below 1", "a=1": "the decay is 1",
		"a=x": "no decay",
	} {
		_, err := ParseDecays([]string{text})
		testkit.MustFail(t, err, want)
	}
}

// Five updates with a frozen part and parameter groups of several rates are those of PyTorch: testdata/tuning.py has
// made what they come to.
func TestTuningIsTheReferences(t *testing.T) {
	want := testkit.OpenTensors(t, filepath.Join("testdata", "tuning.safetensors"))
	g := openGolden(t, "model_f4")
	tuning := Tuning{
		Freeze: []string{"encoder.subsample", "encoder.blocks.0.ffn1", "decoder.embed"},
		Scales: patterns.Rules{{Pattern: "encoder", Value: 0.1}, {Pattern: "encoder.blocks.1.conv", Value: 3}},
	}
	for _, e := range g.window {
		e.Features = e.Features[:e.Frames*g.net.NumMels]
	}
	r := g.load(crewWith(t, g.net, 2, tuning))
	start := map[string][]float32{}
	for _, p := range model.Parameters(g.net) {
		start[p.Name] = r.read(engine.Weights, p.Name)
	}
	u := New(g.net, r.Replica, Options{BatchSize: 4, Rate: noam(1e-3, 3), WeightDecay: 0.1, GradClip: 0.5})
	norms, _, err := want.Float64s("norm")
	if err != nil {
		t.Fatal(err)
	}
	for _, norm := range norms {
		// Gradients of float32 differ by 1e-6 of their size, and by what the weights have drifted apart.
		if out := mustUpdate(t, u, g.window); math.Abs(out.Norm-norm) > 1e-4*norm {
			t.Errorf("update %d: the norm is %g, want %g", u.Updates, out.Norm, norm)
		}
	}
	for _, p := range model.Parameters(g.net) {
		got := r.read(engine.Weights, p.Name)
		if tuning.Frozen(p.Name) {
			if _, there := want.Info(p.Name); there || !slices.Equal(got, start[p.Name]) {
				t.Errorf("%s is frozen: it is in the file: %v, or it has changed", p.Name, there)
			}
			continue
		}
		if strings.HasSuffix(p.Name, ".key.bias") { // whose true gradient is 0: Adam makes steps of what rounding leaves
			continue
		}
		w, _, err := want.Float64s(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		apart, moved := 0.0, 0.0
		for i := range w {
			apart += math.Abs(float64(got[i]) - w[i])
			moved += math.Abs(float64(start[p.Name][i]) - w[i])
		}
		// Adam's first steps have the size of the rate whatever the gradient's is, so that a gradient which is small beside
		// its tensor's others shows its rounding in full.
		if !(apart <= 5e-3*moved) || moved == 0 {
			t.Errorf("%s has moved by %g in all, and is %g from where it should be", p.Name, moved, apart)
		}
	}
}

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
)

// tiny is a network that the float64 specifications compute in a moment.
func tiny(subsampling, decoderLayers int) model.Config {
	return model.Config{
		DModel: 16, Heads: 2, EncoderLayers: 2, DecoderLayers: decoderLayers, ConvKernel: 5, Subsampling: subsampling, SubsampleChannels: 4,
		NumMels: 12, Vocab: 11, Dropout: 0.2, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
}

// regularized is c with everything that is for training on little data.
func regularized(c model.Config) model.Config {
	c.CTCSmoothing, c.InterCTCWeight, c.StochasticDepth = 0.1, 0.4, 0.3
	c.DropoutOf = []string{"encoder.subsample=0", "encoder.blocks.*.attn=0.3"}
	return c
}

// networkSpec is what a network asks the engine for.
func networkSpec(t testing.TB, c model.Config, shape model.Shape, purpose model.Purpose) (Spec, *model.Network) {
	t.Helper()
	spec, net, err := buildSpec(c, shape, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return spec, net
}

func buildSpec(c model.Config, shape model.Shape, purpose model.Purpose) (Spec, *model.Network, error) {
	net, err := model.Build(c, shape, purpose)
	if err != nil {
		return Spec{}, nil, err
	}
	spec := Spec{Weights: net.Weights, Shared: net.Shared, Outputs: map[string]*G.Node{}}
	for name, node := range map[string]*G.Node{"ctc": net.CTC, "inter": net.Inter, "ce": net.CE} {
		if node != nil {
			spec.Outputs[name] = node
		}
	}
	if purpose == model.Training {
		spec.Loss, spec.Grads = net.Loss, net.Graph.Grad(net.Loss, net.Weights...)
	} else {
		spec.Outputs["logits"] = net.Logits
	}
	return spec, net, net.Graph.Err()
}

// networkRig gives a network start values and a random batch of utterances of different lengths.
func networkRig(t *testing.T, c model.Config, shape model.Shape, purpose model.Purpose) (*rig, *op.Graph) {
	t.Helper()
	spec, net := networkSpec(t, c, shape, purpose)
	r := testkit.Rand(7)
	feeds := map[*G.Node]op.Array{}
	parameters := map[string]model.Parameter{}
	for _, p := range model.Parameters(c) {
		parameters[p.Name] = p
	}
	for _, n := range net.Weights {
		p := parameters[n.Name()]
		w := make([]float32, p.Size())
		p.Init(w, 1)
		a := op.Array{Data: doubles(w), Shape: p.Shape}
		for k := range a.Data { // norms and biases start at 1 and 0: too special
			a.Data[k] = float64(float32(a.Data[k] + 0.1*r.NormFloat64()))
		}
		feeds[n] = a
	}
	lengths, targetLengths, targets, seeds := make([]int32, shape.Batch), make([]int32, shape.Batch), make([]int32, shape.Batch*shape.Tokens), make([]int32, 2*shape.Batch)
	for b := range shape.Batch {
		lengths[b] = int32(shape.Frames - b*shape.Frames/(2*shape.Batch))
		targetLengths[b] = int32(max(shape.Tokens-b, 0))
		for u := range targetLengths[b] {
			targets[b*shape.Tokens+int(u)] = int32(3 + r.IntN(c.Vocab-3))
		}
		seeds[2*b], seeds[2*b+1] = r.Int32(), r.Int32()
	}
	ints := map[string][]int32{model.Lengths: lengths, model.Targets: targets, model.TargetLengths: targetLengths, model.Seeds: seeds}
	for _, n := range net.Graph.Inputs() {
		if _, known := feeds[n]; known {
			continue
		}
		switch name := n.Name(); name {
		case model.Features:
			feeds[n] = randomArray(r, 1, n.Shape()...)
		case model.Scale:
			feeds[n] = op.Array{Data: []float64{1 / float64(shape.Batch)}, Shape: n.Shape()}
		case model.Positions, model.DecoderPositions:
			feeds[n] = op.Array{Data: doubles(model.NewTables(c.DModel).Shared(name, n.Shape())), Shape: n.Shape()}
		default:
			feeds[n] = intArray(n.Shape(), ints[name]...)
		}
	}
	return newRig(t, spec, feeds), net.Graph
}

// TestNetworks holds whole networks in planned memory to the specifications in float64 and to Gorgonia's tape.
func TestNetworks(t *testing.T) {
	t.Parallel()
	shape := model.Shape{Batch: 3, Frames: 37, Tokens: 4}
	for _, c := range []model.Config{tiny(2, 1), tiny(4, 2), tiny(8, 1), tiny(4, 0), regularized(tiny(2, 1)), regularized(tiny(4, 0))} {
		for _, purpose := range []model.Purpose{model.Training, model.Scoring, model.Transcribing} {
			t.Run(fmt.Sprintf("%+v, purpose %d", c, purpose), func(t *testing.T) {
				r, g := networkRig(t, c, shape, purpose)
				p := r.compile()
				for _, s := range p.Steps {
					if s.Op.Name == "subsample.conv.dx" || s.Op.Name == "unpack" {
						t.Errorf("a step %v that nobody needs", s.Op)
					}
				}
				m := r.bind(p)
				r.run(m, false)
				got := r.results(m)
				r.compare("network", got, r.reference(), 1e-5) // the goldens' own allowance for gradients in float32
				if purpose == model.Training {
					r.compare("beside the tape", got, r.tape(g), 1e-5)
				}
				r.fill(m) // a run may overwrite its inputs
				if err := m.RunAll(); err != nil {
					t.Fatal(err)
				}
				for name, again := range r.results(m) {
					if !slices.Equal(again, got[name]) {
						t.Errorf("%s: RunAll gives other values than Run", name)
					}
				}
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// presets are the sizes that users choose from, with a vocabulary of 100.
var presets = []struct {
	name   string
	config model.Config
}{
	{"original", preset(256, 12, 6)},
	{"optimized", preset(192, 8, 4)},
	{"minimal", preset(128, 6, 3)},
}

func preset(d, encoderLayers, decoderLayers int) model.Config {
	return model.Config{
		DModel: d, Heads: 4, EncoderLayers: encoderLayers, DecoderLayers: decoderLayers, ConvKernel: 31, Subsampling: 4, SubsampleChannels: 64,
		NumMels: 80, Vocab: 100, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1,
	}
}

// modes are the ways in which a network is compiled.
var modes = []struct {
	name      string
	purpose   model.Purpose
	half      bool
	recompute Recompute
}{
	{"training", model.Training, false, RecomputeNone},
	{"half", model.Training, true, RecomputeNone},
	{"recompute", model.Training, false, RecomputeBlocks},
	{"half, recompute", model.Training, true, RecomputeBlocks},
	{"scoring", model.Scoring, false, RecomputeNone},
	{"transcribing", model.Transcribing, false, RecomputeNone},
}

// TestPlansOfPresets: the arena is within 5 % of the least possible for every preset, alone or in a batch, short
// and long, and a program's text is the same each time it is compiled.
func TestPlansOfPresets(t *testing.T) {
	t.Parallel()
	for _, p := range presets {
		for i, shape := range []model.Shape{{Batch: 1, Frames: 800, Tokens: 80}, {Batch: 4, Frames: 400, Tokens: 40}, {Batch: 1, Frames: 3000, Tokens: 300}} {
			specs := map[model.Purpose]Spec{}
			for _, mode := range modes {
				what := fmt.Sprintf("%s %+v %s", p.name, shape, mode.name)
				spec, built := specs[mode.purpose]
				if !built {
					spec, _ = networkSpec(t, p.config, shape, mode.purpose)
					specs[mode.purpose] = spec
				}
				spec.Half, spec.Recompute = mode.half, mode.recompute
				prog, err := Compile(spec)
				if err != nil {
					t.Fatal(err)
				}
				if err := prog.Plan.Check(); err != nil {
					t.Error(err)
				}
				checkAliases(t, prog)
				for _, s := range prog.Steps { // a term that a step of its own makes is added by that step
					if s.Op.Name == "sum" && !strings.Contains(s.In[0].Name+s.In[1].Name, "@") {
						t.Errorf("%s: %s and %s are added in a step of their own", what, s.In[0].Name, s.In[1].Name)
					}
				}
				size, live := prog.Plan.Size, prog.Plan.Live()
				t.Logf("%s: %d steps, arena %.2f MB, %.2f %% above what lives at most", what, len(prog.Steps), float64(prog.ArenaBytes())/1e6, 100*float64(size-live)/float64(live))
				if size < live || float64(size) > 1.05*float64(live) {
					t.Errorf("%s: an arena of %d bytes for %d live", what, size, live)
				}
				if i > 0 { // the text doesn't depend on sizes
					continue
				}
				if again, err := Compile(spec); err != nil || again.String() != prog.String() {
					t.Errorf("%s: compiled twice, two programs (%v)", what, err)
				}
			}
		}
	}
}

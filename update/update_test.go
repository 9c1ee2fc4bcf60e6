package update

import (
	"errors"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/philox"
	"konkanitrain/model"
	"konkanitrain/op"
)

// recording is a replica that keeps the steps of the optimizer that it is asked for.
type recording struct {
	Replica
	steps []engine.AdamW
}

func (r *recording) Update(s engine.AdamW) error {
	r.steps = append(r.steps, s)
	return r.Replica.Update(s)
}

// An update's pass and step are what the options, the loss scale and the number of updates say.
func TestUpdateIsWhatTheOptionsSay(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := &recording{Replica: newCrew(t, net, 2)}
	o := Options{BatchSize: 2, Half: true, Seed: 77, Rate: noam(0.02, 10), WeightDecay: 0.25, GradClip: 0.5}
	u := New(net, r, o)
	u.Updates, u.LossScale.Scale = 4, 1024
	window := append(windowOfFour(net), unread(noise(9, 100, net.NumMels)))
	ask := Ask{Purpose: model.Training, Half: true, Scale: 1024, Seed: 77, Update: 5} // four can be read
	losses, err := u.Runner.Run(window, ask)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, l := range losses {
		want += l.Total
	}
	squares, err := r.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	out := mustUpdate(t, u, window)
	if norm := math.Sqrt(squares) / 1024; out.Loss != want || out.Norm != norm {
		t.Errorf("loss and norm are %v and %v, want %v and %v", out.Loss, out.Norm, want, norm)
	}
	step := engine.AdamW{Number: 5, LR: 0.01, GradScale: 0.5 / (out.Norm + 1e-6) / 1024, Decay: 0.25, Share: 1}
	if !slices.Equal(r.steps, []engine.AdamW{step}) || u.Updates != 5 || u.LR != 0.01 || u.LossScale.Good != 1 {
		t.Errorf("steps are %+v, want %+v; updater %+v", r.steps, step, u)
	}
	for _, b := range u.Runner.pass.Batches {
		if !b.Key.Half || b.Key.Purpose != model.Training || b.Key.Batch > 2 {
			t.Errorf("the pass runs %+v", b.Key)
		}
	}
}

// inputs are a program's inputs, by name.
type inputs map[string]op.Tensor

func (in inputs) Input(name string) op.Tensor { return in[name] }

// What is written into the inputs: all of them anew, but for the padding of the features.
func TestFill(t *testing.T) {
	net := tinyNetwork(4, 1)
	net.NumMels = 2
	far := noise(3, 3, 2, 5, 6)
	far.Utt.Key = 1<<63 + 17
	window := []*data.Example{noise(1, 4, 2, 7, 8, 9), unread(noise(2, 3, 2, 4)), far}
	x := NewRunner(net, newCrew(t, net, 1), 4)
	x.load(window, Ask{Scale: 6, Seed: 1 << 40, Update: 9})
	x.dispatch([]microBatch{{rows: []int{2, 1, 0}, shape: model.Shape{Batch: 3, Frames: 5, Tokens: 4}}})
	const old = 99
	in := inputs{
		model.Features: {Data: slices.Repeat([]float32{old}, 3*5*2)}, model.Lengths: {Ints: []int32{old, old, old}},
		model.Targets: {Ints: slices.Repeat([]int32{old}, 3*4)}, model.TargetLengths: {Ints: []int32{old, old, old}},
		model.Seeds: {Ints: slices.Repeat([]int32{old}, 6)}, model.Scale: {Data: []float32{old}},
	}
	if err := errors.Join(x.fill(0, in), x.late(0, in)); err != nil {
		t.Fatal(err)
	}
	pad := func(f []float32, n int) []float32 {
		return append(slices.Clone(f), slices.Repeat([]float32{old}, n)...)
	}
	features := slices.Concat(pad(far.Features, 4), pad(nil, 10), pad(window[0].Features, 2))
	if got := in[model.Features].Data; !slices.Equal(got, features) {
		t.Errorf("features are %v, want %v", got, features)
	}
	var seeds []int32
	for _, e := range []*data.Example{far, window[1], window[0]} {
		key := philox.Key(1<<40, 9, e.Utt.Key)
		seeds = append(seeds, int32(key&math.MaxUint32), int32(key>>32))
	}
	for name, want := range map[string][]int32{
		model.Lengths: {3, 0, 4}, model.Targets: {5, 6, 0, 0, 4, 0, 0, 0, 7, 8, 9, 0}, model.TargetLengths: {2, -1, 3}, model.Seeds: seeds,
	} {
		if got := in[name].Ints; !slices.Equal(got, want) {
			t.Errorf("%s are %v, want %v", name, got, want)
		}
	}
	if got := in[model.Scale].Data[0]; got != 3 {
		t.Errorf("the scale is %v", got)
	}
	// Without targets, dropout and a loss there is less to fill.
	less := inputs{model.Features: in[model.Features], model.Lengths: {Ints: []int32{old, old, old}}}
	if err := errors.Join(x.fill(0, less), x.late(0, less)); err != nil || !slices.Equal(less[model.Lengths].Ints, []int32{3, 0, 4}) {
		t.Errorf("lengths are %v, %v", less[model.Lengths].Ints, err)
	}
}

// onHost is a network on the host, of which all learns.
func onHost(c model.Config) (engine.Network[Variant], error) { return NetworkOn(op.CPU, c, Tuning{}) }

// The network's parameters are the model's, in their order, with their start values.
func TestNetworkIsTheModels(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := &rig{Replica: newCrew(t, net, 1), t: t, net: net} // drawn from seed 7
	n, err := onHost(net)
	if err != nil {
		t.Fatal(err)
	}
	params := model.Parameters(net)
	if len(n.Parameters()) != len(params) {
		t.Fatalf("%d parameters, want %d", len(n.Parameters()), len(params))
	}
	for i, p := range n.Parameters() {
		if p.Name != params[i].Name || !slices.Equal(p.Shape, params[i].Shape) || p.Decay != params[i].Decay {
			t.Errorf("parameter %d is %+v, want %+v", i, p, params[i])
		}
		want := make([]float32, params[i].Size())
		params[i].Init(want, 7)
		if !slices.Equal(r.read(engine.Weights, p.Name), want) {
			t.Errorf("%s starts with other values", p.Name)
		}
	}
}

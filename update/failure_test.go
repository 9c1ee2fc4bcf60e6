package update

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// windowOfThree is an utterance with an empty target, one that is too short for its target, and one of 13 tokens.
func windowOfThree(net model.Config) []*data.Example {
	return []*data.Example{
		noise(1, 50, net.NumMels),
		noise(2, 30, net.NumMels, tokensFor(20)...),
		noise(3, 120, net.NumMels, tokensFor(13)...),
	}
}

// toFeatures is a network whose programs for training also give the gradient of the features.
type toFeatures struct {
	engine.Network[Variant]
	config model.Config
}

func (n toFeatures) Spec(v Variant) (engine.Spec, error) {
	net, err := model.Build(n.config, v.Shape, v.Purpose)
	if err != nil {
		return engine.Spec{}, err
	}
	features := net.Graph.Inputs()
	features = slices.DeleteFunc(features, func(n *G.Node) bool { return n.Name() != model.Features })
	grads := net.Graph.Grad(net.Loss, slices.Concat(net.Weights, features)...)
	if err := net.Graph.Err(); err != nil {
		return engine.Spec{}, err
	}
	of := len(net.Weights)
	spec := engine.Spec{
		Weights: net.Weights, Grads: grads[:of], Shared: net.Shared, Loss: net.Loss,
		Outputs: map[string]*G.Node{outCTC: net.CTC, "features": grads[of]},
	}
	if net.CE != nil {
		spec.Outputs[outCE] = net.CE
	}
	return spec, nil
}

// featureGradient is a pass in one micro-batch that also gives the gradient of the features, [B, T, F].
func featureGradient(t *testing.T, net model.Config, window []*data.Example, shape model.Shape) (grad []float32, losses []Loss) {
	t.Helper()
	inner, err := onHost(net)
	if err != nil {
		t.Fatal(err)
	}
	crew, err := engine.NewCrew(device.NewHost(), engine.NewLibrary(toFeatures{inner, net}), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	defer crew.Close()
	if err := crew.Initialize(7); err != nil {
		t.Fatal(err)
	}
	r := &rig{Replica: crew, t: t, net: net, runner: NewRunner(net, crew, 8)}
	r.runner.pass.Collect = func(i int, out engine.Outputs) error {
		grad = slices.Clone(out.Output("features").Data)
		return r.runner.collect(i, out)
	}
	b := microBatch{shape: shape}
	for i := range window {
		b.rows = append(b.rows, i)
	}
	return grad, r.pass(window, []microBatch{b}, Ask{Scale: 1.0 / 3, Seed: 3, Update: 5})
}

// A bad utterance doesn't touch its neighbors: what goes back to the good one's features through the whole network is
// what it gets alone, bit for bit.
func TestBadUtterancesDontTouchTheirNeighbors(t *testing.T) {
	for _, decoder := range []int{0, 1} {
		t.Run(fmt.Sprintf("%d decoder layers", decoder), func(t *testing.T) {
			net := tinyNetwork(4, decoder)
			shape := model.Shape{Batch: 3, Frames: 160, Tokens: 24}
			window := windowOfThree(net)
			batch, losses := featureGradient(t, net, window, shape)
			gone := slices.Clone(window)
			gone[0] = unread(gone[0])
			absent, left := featureGradient(t, net, gone, shape)
			shape.Batch = 1
			alone, loss := featureGradient(t, net, window[2:], shape)
			row := shape.Frames * net.NumMels
			testkit.Close(t, "gradient of the good one's features", batch[2*row:], alone, 2*productTolerance)
			testkit.Close(t, "gradient of its features beside an absent row", absent[2*row:], alone, 2*productTolerance)
			sameLosses(t, "the good utterance", losses[2:], loss, productTolerance)
			sameLosses(t, "beside an absent row", left[2:], loss, productTolerance)
			for r, e := range window {
				for i, v := range batch[r*row : (r+1)*row] {
					if i >= e.Frames*net.NumMels && v != 0 || v != v {
						t.Fatalf("the gradient of utterance %d at frame %d of %d is %v", r, i/net.NumMels, e.Frames, v)
					}
				}
			}
			if slices.ContainsFunc(absent[:row], func(v float32) bool { return v != 0 }) {
				t.Error("the absent row has a gradient")
			}
			if l := losses[1]; l.CTC != 0 || !l.Infeasible || (l.CE > 0) != (decoder > 0) {
				t.Errorf("the infeasible utterance: %+v", l)
			}
			if l := losses[0]; l.CTC <= 0 || l.Infeasible {
				t.Errorf("the empty target: %+v", l)
			}
			if decoder == 0 && slices.ContainsFunc(batch[row:2*row], func(v float32) bool { return v != 0 }) {
				t.Error("without a decoder, the infeasible utterance has a gradient")
			}
		})
	}
}

func TestCountsOfBadUtterances(t *testing.T) {
	net := tinyNetwork(4, 1)
	u := New(net, newCrew(t, net, 2), options)
	if out := mustUpdate(t, u, windowOfThree(net)); out.Infeasible != 1 || out.Utterances != 3 || u.Updates != 1 {
		t.Errorf("%+v", out)
	}
}

// A window in which CTC can learn nothing makes no update with zeros. A decoder does learn.
func TestInfeasibleWindow(t *testing.T) {
	for decoder, want := range []Reason{NothingFeasible, Made} {
		net := tinyNetwork(4, decoder)
		r := newRig(t, net, 2)
		u := New(net, r.Replica, options)
		window := []*data.Example{
			noise(1, 30, net.NumMels, tokensFor(20)...), noise(2, 20, net.NumMels, tokensFor(30)...), unread(noise(3, 80, net.NumMels)),
		}
		before := r.everything(u)
		out, err := u.Update(window)
		if err != nil || out.Skipped != want || u.Updates != decoder || out.Infeasible != 2 || out.Utterances != 2 {
			t.Errorf("%d decoder layers: %+v, %v, %d updates", decoder, out, err, u.Updates)
		}
		if changed := !slices.Equal(before, r.everything(u)); changed != (want == Made) {
			t.Errorf("%d decoder layers: something has changed: %v", decoder, changed)
		}
	}
}

// A weight that turns NaN is named within three updates, wherever it is: in a matrix, in a bias, or where no utterance
// uses it (no text has an <unk> to look up).
func TestNaNWeightIsNamed(t *testing.T) {
	for name, at := range map[string]int{
		"encoder.blocks.1.ffn1.up.weight": 7, "encoder.subsample.conv.0.bias": 0, "decoder.embed.weight": 2 * 16, "ctc.bias": 0,
	} {
		for _, half := range []bool{false, true} {
			net := tinyNetwork(4, 1)
			r := newRig(t, net, 2)
			o := options
			o.Half, o.WeightDecay = half, 0
			u := New(net, r.Replica, o)
			mustUpdate(t, u, windowOfFour(net))
			r.edit(engine.Weights, name, func(w []float32) { w[at] = float32(math.NaN()) })
			var err error
			for range 2 {
				if _, e := u.Update(windowOfFour(net)); e != nil {
					err = e
					break
				}
			}
			var diverged *DivergedError
			if !errors.As(err, &diverged) {
				t.Fatalf("%s: the error is %v", name, err)
			}
			if unused := name == "decoder.embed.weight"; diverged.Updates != u.Updates || (u.Updates == 3) != unused {
				t.Errorf("%s: found after %d updates, said to be %d", name, u.Updates, diverged.Updates)
			}
			testkit.MustContain(t, err.Error(), fmt.Sprintf("weight %s[", name), "] is NaN after update", "learning_rate")
			if half && u.LossScale.Scale != NewLossScale().Scale {
				t.Errorf("%s: the loss scale was blamed: %+v", name, u.LossScale)
			}
		}
	}
}

func TestFinite(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := newRig(t, net, 1)
	u := New(net, r.Replica, options)
	if err := u.Finite(); err != nil {
		t.Error(err)
	}
	u.Updates = 3
	r.edit(engine.Weights, "ctc.weight", func(w []float32) { w[2] = float32(math.Inf(-1)) })
	if err := u.Finite(); err == nil {
		t.Error("an infinite weight was not found")
	} else {
		testkit.MustContain(t, err.Error(), "weight ctc.weight[2] is -Inf after update 3")
	}
}

// failing is a replica one of whose steps fails.
type failing struct {
	Replica
	step string
}

var errFailing = errors.New("the device is gone")

func (f failing) Run(p *engine.Pass[Variant]) error {
	if f.step == "run" {
		return errFailing
	}
	return f.Replica.Run(p)
}

func (f failing) Reduce() (float64, error) {
	if f.step == "reduce" {
		return 0, errFailing
	}
	return f.Replica.Reduce()
}

func (f failing) Update(s engine.AdamW) error {
	if f.step == "update" {
		return errFailing
	}
	return f.Replica.Update(s)
}

func (f failing) Finite() (*engine.NotFinite, error) {
	if f.step == "finite" {
		return nil, errFailing
	}
	return f.Replica.Finite()
}

func (f failing) Prices(keys []Variant) ([]engine.Price, error) {
	if f.step == "prices" {
		return nil, errFailing
	}
	return f.Replica.Prices(keys)
}

// The error of any step stops the update, which is not counted.
func TestErrorsOfSteps(t *testing.T) {
	net := tinyNetwork(4, 0)
	o := options
	o.Half = true
	for _, step := range []string{"run", "reduce", "update"} {
		u := New(net, failing{newCrew(t, net, 1), step}, o)
		if _, err := u.Update(windowOfFour(net)); !errors.Is(err, errFailing) || u.Updates != 0 || u.LR != 0 || u.LossScale != NewLossScale() {
			t.Errorf("%s: %v, %d updates, rate %v, %+v", step, err, u.Updates, u.LR, u.LossScale)
		}
	}
	u := New(net, failing{newCrew(t, net, 1), "finite"}, o)
	u.Updates = 2
	if _, err := u.Update(windowOfFour(net)); !errors.Is(err, errFailing) || u.Updates != 3 {
		t.Errorf("finite: %v, %d updates", err, u.Updates)
	}
	u = New(net, failing{newCrew(t, net, 1), "prices"}, o)
	if _, err := u.FLOPs(windowOfFour(net)); !errors.Is(err, errFailing) {
		t.Errorf("FLOPs: %v", err)
	}
	if _, bytes, err := u.Runner.Largest([]Met{{}}); !errors.Is(err, errFailing) || bytes != 0 {
		t.Errorf("Largest: %d, %v", bytes, err)
	}
}

// Lengths: one rule for the filter and the loss.
func TestFeasibilityIsTheLosses(t *testing.T) {
	net := tinyNetwork(4, 0)
	r := newRig(t, net, 1)
	aab := []int32{3, 3, 4} // needs 4 encoder frames, 13 feature frames at factor 4
	for n, want := range map[int]bool{12: false, 13: true, 16: true} {
		if frames.Feasible(n, 4, aab) != want {
			t.Errorf("%d frames: feasible is %v", n, !want)
		}
		shape := model.Shape{Batch: 1, Frames: n, Tokens: 3}
		loss := r.pass([]*data.Example{noise(n, n, 20, aab...)}, []microBatch{{rows: []int{0}, shape: shape}}, Ask{Scale: 1})
		if (loss[0].CTC > 0) != want || loss[0].Infeasible == want {
			t.Errorf("%d frames: %+v", n, loss[0])
		}
	}
}

// Settings that make no network are refused before there is one, and a shape that makes none when it is compiled.
func TestNetworkIsChecked(t *testing.T) {
	bad := tinyNetwork(4, 1)
	bad.Heads = 3
	if _, err := onHost(bad); err == nil {
		t.Error("3 heads in a width of 16 are a network")
	} else {
		testkit.MustContain(t, err.Error(), "heads 3 does not divide d_model 16")
	}
	n, err := onHost(tinyNetwork(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Spec(Variant{Shape: model.Shape{Batch: 2, Tokens: 1}}); err == nil {
		t.Error("no frames are a shape")
	} else {
		testkit.MustContain(t, err.Error(), "the network for {Batch:2 Frames:0 Tokens:1}")
	}
}

// The tables that the network's programs read are counted once.
func TestTablesAreCounted(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := newRig(t, net, 2)
	mustUpdate(t, New(net, r.Replica, options), windowOfFour(net))
	// 105 encoder frames are padded to 112: tables of 223 rows; 151 tokens with the end to 193.
	longest := bucket(1, 420, 150, net)
	want := int64(4 * net.DModel * (2*longest.Encoded(net) - 1 + longest.Tokens + 1))
	if got := r.Usage().Tables; got != want {
		t.Errorf("%d bytes of tables, want %d", got, want)
	}
}

package update

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// regularized is c with everything that is for training on little data.
func regularized(c model.Config) model.Config {
	c.CTCSmoothing, c.InterCTCWeight, c.StochasticDepth = 0.1, 0.4, 0.3
	c.DropoutOf = []string{"encoder.subsample=0", "encoder.blocks.*.attn=0.3"}
	return c
}

// What an utterance's losses add up to is what training minimizes, by the shares of the purpose; validation knows
// nothing of what is for training alone.
func TestLossesOfTrainingAndOfScoring(t *testing.T) {
	for _, decoder := range []int{0, 1} {
		plain := tinyNetwork(4, decoder)
		net := regularized(plain)
		r, without := newRig(t, net, 1), newRig(t, plain, 1)
		window := windowOfFour(net)
		batches := chunks(window, net, 1, 4)
		for i, l := range r.pass(window, batches, Ask{Scale: 1, Seed: 3, Update: 5}) {
			ctc, ce := 1.0, 0.0
			if decoder > 0 {
				ctc, ce = net.CTCWeight, 1-net.CTCWeight
			}
			want := ctc*(0.6*l.CTC+0.4*l.Inter) + ce*l.CE
			if l.Infeasible != (l.Inter == 0) || l.Inter == l.CTC && !l.Infeasible || !(math.Abs(l.Total-want) <= 1e-12*want) {
				t.Errorf("%d decoder layers, utterance %d: %+v, want a total of %g", decoder, i, l, want)
			}
		}
		score := Ask{Purpose: model.Scoring}
		want := without.pass(window, batches, score)
		for i, l := range r.pass(window, batches, score) {
			if l != want[i] || l.Inter != 0 {
				t.Errorf("%d decoder layers, utterance %d: validation gives %+v, without what is for training %+v", decoder, i, l, want[i])
			}
		}
	}
}

// With all that is for training on little data an utterance's draws, loss and gradient are still its own, and a window
// gives the same update however it is split.
func TestSplitsOfARegularizedWindow(t *testing.T) {
	// As in TestSplitsOfAWindowGiveOneGradient: float32 sums over hundreds of frames in another order.
	const splitTolerance = 1.5e-6
	for factor, decoder := range map[int]int{2: 0, 4: 1} {
		net := regularized(tinyNetwork(factor, decoder))
		one, two := newRig(t, net, 1), newRig(t, net, 2)
		window := windowOfEight(net)
		wantLoss, want := one.gradient(window, chunks(window, net, 1, 1, 1, 1, 1, 1, 1, 1, 1), 1.0/8)
		for name, batches := range map[string][]microBatch{"8": chunks(window, net, 2, 8), "5, 3": chunks(window, net, 2, 5, 3), "dealt": dealt(window, net, 4, 2)} {
			loss, got := two.gradient(window, batches, 1.0/8)
			what := fmt.Sprintf("factor %d, %d decoder layers, %s", factor, decoder, name)
			sameLosses(t, what, loss, wantLoss, productTolerance)
			testkit.CloseRel(t, what, got, want, splitTolerance)
		}
	}
}

// A part with a weight decay of its own has that one, and all other weights are those of an update without, to the bit:
// the two updates start from one state, and a decay takes its share off each weight that decays.
func TestWeightDecayOfParts(t *testing.T) {
	net := tinyNetwork(4, 1)
	o := options
	o.WeightDecay = 0.25
	window := windowOfFour(net)
	decays, err := ParseDecays([]string{"encoder.blocks.*.ffn1=0", "decoder=0.75"})
	if err != nil {
		t.Fatal(err)
	}
	tuning := Tuning{Decays: decays}
	own, plain := rigOf(t, net, crewWith(t, net, 2, tuning)), newRig(t, net, 2)
	before := map[string][]float32{}
	for _, p := range model.Parameters(net) {
		before[p.Name] = own.read(engine.Weights, p.Name)
	}
	u := New(net, own.Replica, o)
	mustUpdate(t, u, window)
	mustUpdate(t, New(net, plain.Replica, o), window)
	for _, p := range model.Parameters(net) {
		got, want := own.read(engine.Weights, p.Name), plain.read(engine.Weights, p.Name)
		d := tuning.Decay(p.Name)
		if !p.Decay || !d.Set {
			if !slices.Equal(got, want) {
				t.Errorf("%s is another one than without decays of parts", p.Name)
			}
			continue
		}
		for i := range want {
			more := u.LR * (d.Value - o.WeightDecay) * float64(before[p.Name][i])
			if got[i] == want[i] && math.Abs(more) > 1e-6*math.Abs(float64(got[i])) || math.Abs(float64(want[i])-float64(got[i])-more) > 2e-7*max(1, math.Abs(float64(got[i]))) {
				t.Fatalf("%s[%d] is %g, with the decay of the rest %g, want %g less", p.Name, i, got[i], want[i], more)
			}
		}
	}
}

// Losses and gradients with intermediate CTC and smoothing are those of PyTorch: testdata/little.py has made them.
func TestLittleDataIsTheReferences(t *testing.T) {
	want := testkit.OpenTensors(t, filepath.Join("testdata", "little.safetensors"))
	g := openGolden(t, "model_f4")
	g.net.InterCTCWeight, g.net.CTCSmoothing = 0.4, 0.1
	r := g.load(newCrew(t, g.net, 2))
	losses := r.pass(g.window, []microBatch{{rows: []int{0, 1, 2, 3}, shape: g.shape}}, Ask{Scale: 1 / float64(len(g.window))})
	column := func(name string) []float64 {
		t.Helper()
		v, _, err := want.Float64s("loss." + name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	ctc, inter, ce, total := column("ctc"), column("inter"), column("ce"), column("total")
	for i, l := range losses {
		for what, pair := range map[string][2]float64{"ctc": {l.CTC, ctc[i]}, "inter": {l.Inter, inter[i]}, "ce": {l.CE, ce[i]}, "total": {l.Total, total[i]}} {
			if d := math.Abs(pair[0] - pair[1]); !(d <= 2e-6*max(1, pair[1])) { // as in TestGolden
				t.Errorf("loss %s of utterance %d is %v, want %v", what, i, pair[0], pair[1])
			}
		}
	}
	for name, got := range r.reduced() {
		grad, _, err := want.Floats("grad." + name)
		if err != nil {
			t.Fatal(err)
		}
		// The gradient of key biases is 0 in exact arithmetic.
		if d := testkit.RelErr(got, grad); !strings.HasSuffix(name, ".key.bias") && !(d <= 1e-5) {
			t.Errorf("gradient of %s is off by %.2g of its norm", name, d)
		}
	}
}

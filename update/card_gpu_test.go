//go:build gpu

package update

import (
	"math"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/device/cuda/simulated"
	"konkanitrain/engine"
	"konkanitrain/internal/patterns"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/op"
)

// openSimulated is a simulated card.
func openSimulated(t testing.TB) cuda.Card {
	t.Helper()
	l := simulated.Build(t, simulated.Options{})
	card, err := cuda.Open(cuda.Options{Driver: l.Driver, BLAS: l.BLAS})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := card.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := card.Load(op.Modules()); err != nil {
		t.Fatal(err)
	}
	return card
}

// newCard is a replica on a card, with its start values.
func newCard(t testing.TB, card cuda.Card, net model.Config, half bool) *engine.Card[Variant] {
	t.Helper()
	return cardWith(t, card, net, half, Tuning{})
}

// cardWith is one that learns as the tuning says.
func cardWith(t testing.TB, card cuda.Card, net model.Config, half bool, tuning Tuning) *engine.Card[Variant] {
	t.Helper()
	network, err := NetworkOn(op.CUDA, net, tuning)
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.NewCard(card, device.NewPool(card, 0), engine.NewLibrary(network), half, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Initialize(7); err != nil {
		t.Fatal(err)
	}
	return c
}

// A simulated card's losses and gradients are those of the PyTorch reference.
func TestSimulatedCardGolden(t *testing.T) {
	card := openSimulated(t)
	for _, name := range []string{"model_f2", "model_f4", "model_f8", "model_f4_ctc_only"} {
		t.Run(name, func(t *testing.T) {
			g := openGolden(t, name)
			r := g.load(newCard(t, card, g.net, false))
			g.check(r, []microBatch{{rows: []int{0, 1, 2, 3}, shape: g.shape}})
			var single []microBatch
			for i, e := range g.window {
				shape := model.Shape{Batch: 1, Frames: e.Frames + 5, Tokens: max(1, len(e.Tokens))}
				single = append(single, microBatch{rows: []int{i}, shape: shape})
				e.Features = e.Features[:e.Frames*g.net.NumMels]
			}
			g.check(r, single)
		})
	}
}

// Updates on a simulated card follow those of the CPU, as wholes and in parts, with the next window's inputs on their
// way and without.
func TestSimulatedCardUpdates(t *testing.T) {
	card := openSimulated(t)
	for _, layers := range []int{0, 1} {
		net := tinyNetwork(4, layers)
		o := options
		want := New(net, newCrew(t, net, 1), o)
		whole := New(net, newCard(t, card, net, false), o)
		parts := New(net, inParts{newCard(t, card, net, false)}, o)
		windows := [][]*data.Example{windowOfFour(net), windowOfFour(net)[1:], append(windowOfFour(net)[:2], unread(noise(9, 100, net.NumMels)))}
		for i := range 6 {
			window := windows[i%3]
			whole.Next = nil
			if i%2 == 0 {
				whole.Next = func() []*data.Example { return windows[(i+1)%3] }
			}
			a, c := mustUpdate(t, want, window), mustUpdate(t, parts, window)
			before := card.Counters().Synchronizations
			b := mustUpdate(t, whole, window)
			if n := card.Counters().Synchronizations - before; i > 2 && n != 1 { // all shapes were met
				t.Errorf("update %d: the host waited %d times", i+1, n)
			}
			if b.Loss != c.Loss || b.Norm != c.Norm {
				t.Errorf("update %d: loss and norm are %v and %v as a whole, %v and %v in parts", i+1, b.Loss, b.Norm, c.Loss, c.Norm)
			}
			// The weights drift apart by what rounding becomes in Adam's steps.
			if d := math.Abs(a.Loss-b.Loss) / a.Loss; d > 1e-4 {
				t.Errorf("update %d: loss %v on the CPU, %v on the card", i+1, a.Loss, b.Loss)
			}
			if d := math.Abs(a.Norm-b.Norm) / a.Norm; d > 1e-2 {
				t.Errorf("update %d: norm %v on the CPU, %v on the card", i+1, a.Norm, b.Norm)
			}
		}
	}
}

// inParts hides that a replica makes updates as wholes.
type inParts struct{ Replica }

// In half precision losses stay within two percent of those of float32. An overflow changes nothing but the loss scale.
func TestSimulatedCardHalf(t *testing.T) {
	card := openSimulated(t)
	net := tinyNetwork(4, 1)
	o := options
	full := New(net, newCard(t, card, net, false), o)
	o.Half = true
	r := rigOf(t, net, newCard(t, card, net, true))
	full.Runner.Replica = rigOf(t, net, full.Runner.Replica).Replica
	half := New(net, r.Replica, o)
	half.LossScale.Scale = 1 << 40 // overflows float16 at once
	window := windowOfFour(net)
	before := r.everything(half)
	overflows := 0
	for half.Updates < 6 {
		scale := half.LossScale.Scale
		out, err := half.Update(window)
		if err != nil {
			t.Fatal(err)
		}
		if out.Skipped == NotFiniteGradient {
			if overflows++; half.LossScale.Scale != scale/2 || half.Updates != 0 {
				t.Fatalf("after an overflow the scale is %v (%v before), after %d updates", half.LossScale.Scale, scale, half.Updates)
			}
			if !slices.Equal(before, r.everything(half)) {
				t.Fatal("an overflow has changed weights or moments")
			}
			continue
		}
		want := mustUpdate(t, full, window)
		if d := math.Abs(out.Loss-want.Loss) / want.Loss; d > 0.02 {
			t.Errorf("update %d: loss %v in float32, %v in half precision", half.Updates, want.Loss, out.Loss)
		}
	}
	if overflows == 0 {
		t.Error("nothing overflowed")
	}
}

// What is computed again on a card has the same bits, in both precisions, and takes a smaller arena.
func TestSimulatedCardRecomputes(t *testing.T) {
	card := openSimulated(t)
	net := tinyNetwork(4, 1)
	net.EncoderLayers = 3
	window := windowOfFour(net)
	shape := model.Shape{Batch: 4, Frames: 430, Tokens: 150}
	for _, half := range []bool{false, true} {
		var losses []Loss
		var grads map[string][]float32
		arena := int64(math.MaxInt64)
		for _, way := range []engine.Recompute{engine.RecomputeNone, engine.RecomputeBlocks, engine.RecomputeAll} {
			r := rigOf(t, net, newCard(t, card, net, half))
			batches := []microBatch{{rows: []int{0, 1, 2, 3}, shape: shape, recompute: way}}
			got := slices.Clone(r.pass(window, batches, Ask{Half: half, Scale: 1, Seed: 3, Update: 5}))
			bytes := r.Usage().Arenas
			reduced := r.reduced()
			if way == engine.RecomputeNone {
				losses, grads = got, reduced
			}
			if !slices.Equal(got, losses) {
				t.Errorf("half precision %v, recompute %v: losses are %v, without %v", half, way, got, losses)
			}
			for name, g := range reduced {
				if !slices.Equal(g, grads[name]) {
					t.Errorf("half precision %v, recompute %v: another gradient of %s", half, way, name)
				}
			}
			if bytes > arena {
				t.Errorf("half precision %v, recompute %v: an arena of %d bytes, %d with less of it", half, way, bytes, arena)
			}
			arena = bytes
		}
	}
}

// A simulated card trains a part of a network, at several rates, as the CPU does; what is frozen keeps its bits.
func TestSimulatedCardTuning(t *testing.T) {
	card := openSimulated(t)
	net := tinyNetwork(4, 1)
	tuning := Tuning{
		Freeze: []string{"encoder.blocks.0", "decoder.embed"},
		Scales: patterns.Rules{{Pattern: "encoder", Value: 0.1}, {Pattern: "encoder.blocks.1.conv", Value: 2}},
	}
	for _, half := range []bool{false, true} {
		o := options
		o.Half, o.WeightDecay = half, 0.1
		want := rigOf(t, net, crewWith(t, net, 1, tuning))
		got := rigOf(t, net, cardWith(t, card, net, half, tuning))
		start := want.all(engine.Weights)
		onCPU, onCard := New(net, want.Replica, o), New(net, got.Replica, o)
		onCPU.LossScale.Scale, onCard.LossScale.Scale = 1024, 1024 // no overflow
		for i := range 4 {
			a, b := mustUpdate(t, onCPU, windowOfFour(net)), mustUpdate(t, onCard, windowOfFour(net))
			if d := math.Abs(a.Loss-b.Loss) / a.Loss; d > 1e-3 || half && d > 0.02 {
				t.Errorf("half precision %v, update %d: loss %v on the CPU, %v on the card", half, i+1, a.Loss, b.Loss)
			}
		}
		for _, p := range model.Parameters(net) {
			w, g, s := want.read(engine.Weights, p.Name), got.read(engine.Weights, p.Name), start[:p.Size()]
			start = start[p.Size():]
			if tuning.Frozen(p.Name) {
				if !slices.Equal(g, s) || !slices.Equal(w, s) {
					t.Errorf("%s is frozen and has changed", p.Name)
				}
				continue
			}
			if half || strings.HasSuffix(p.Name, "key.bias") { // whose gradient is only rounding noise
				continue
			}
			// A step is at most the learning rate, times the factor; the two go the same way but for gradients near 0.
			apart, moved := 0.0, 0.0
			for i := range w {
				apart += math.Abs(float64(w[i] - g[i]))
				moved += math.Abs(float64(w[i] - s[i]))
			}
			if moved == 0 || apart > 0.02*moved {
				t.Errorf("%s has moved by %g in all, and is %g apart", p.Name, moved, apart)
			}
		}
	}
}

// A simulated card keeps averages of what learns, by the formula; where they have changed places with the weights, a
// pass is that of a network with such weights, in both precisions, and there is no update.
func TestSimulatedCardAverages(t *testing.T) {
	card := openSimulated(t)
	net := tinyNetwork(4, 1)
	tuning := Tuning{Freeze: []string{"encoder.blocks.0"}, Scales: patterns.Rules{{Pattern: "encoder", Value: 0.1}}, Averages: true}
	batches := []microBatch{{rows: []int{0, 1, 2, 3}, shape: model.Shape{Batch: 4, Frames: 430, Tokens: 150}}}
	for _, half := range []bool{false, true} {
		o := options
		o.Half, o.EMADecay = half, 0.3
		r := rigOf(t, net, cardWith(t, card, net, half, tuning))
		u := New(net, r.Replica, o)
		u.LossScale.Scale = 1024 // no overflow
		smooth := map[string][]float32{}
		for i := range 3 {
			before := map[string][]float32{}
			for _, p := range tuning.Learned(model.Parameters(net)) {
				before[p.Name] = r.read(engine.Averages, p.Name)
			}
			mustUpdate(t, u, windowOfFour(net))
			keep := EMADecay(0.3, i+1)
			for name, average := range before {
				smooth[name] = r.read(engine.Averages, name)
				for k, w := range r.read(engine.Weights, name) {
					average[k] = float32(keep*float64(average[k]) + (1-keep)*float64(w))
				}
				testkit.Close(t, name, smooth[name], average, 4*4*0x1p-24) // four roundings of numbers below 4
			}
		}
		weights := r.all(engine.Weights)
		if err := r.ExchangeAverages(); err != nil {
			t.Fatal(err)
		}
		_, err := u.Update(windowOfFour(net))
		testkit.MustFail(t, err, "have changed places")
		ask := Ask{Half: half, Scale: 1, Seed: 3, Update: 5}
		got := slices.Clone(r.pass(windowOfFour(net), batches, ask))
		hand := rigOf(t, net, cardWith(t, card, net, half, tuning))
		for name, average := range smooth {
			hand.edit(engine.Weights, name, func(w []float32) { copy(w, average) })
		}
		if want := hand.pass(windowOfFour(net), batches, ask); !slices.Equal(got, want) {
			t.Errorf("half precision %v: losses are %v, those of a network with such weights %v", half, got, want)
		}
		if err := r.ExchangeAverages(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.all(engine.Weights), weights) {
			t.Errorf("half precision %v: the weights are not back", half)
		}
		mustUpdate(t, u, windowOfFour(net))
	}
}

// The gradient that a card holds after an update, as a whole and in parts, is that of the update.
func TestSimulatedCardGradients(t *testing.T) {
	card := openSimulated(t)
	net := tinyNetwork(4, 1)
	for _, half := range []bool{false, true} {
		o := options
		o.Half, o.GradClip = half, 0.1
		learns := func(r Replica) *Updater {
			u := New(net, r, o)
			u.LossScale.Scale = 1024 // with which nothing is beyond float16
			return u
		}
		checkGradients(t, learns(newCard(t, card, net, half)), learns(newCard(t, card, net, half)), Tuning{})
		checkGradients(t, learns(inParts{newCard(t, card, net, half)}), learns(inParts{newCard(t, card, net, half)}), Tuning{})
	}
}

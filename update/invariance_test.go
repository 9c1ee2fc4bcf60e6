package update

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// A window gives the same update however it is split: rows per pass, workers, and the dealing's own choice.
// Sound is read by the loader, with speeds and masks; dropout is on.
func TestSplitsOfAWindowGiveOneGradient(t *testing.T) {
	window := readOne(t, 8)
	for i, e := range window {
		e.Tokens = tokensFor(2 + i) // eight lengths
	}
	// A weight's gradient is a float32 sum over the frames of eight utterances, hundreds of them, which each split takes
	// in another order: up to 7e-7 apart.
	const splitTolerance = 1.5e-6
	worst := 0.0
	for factor, decoders := range map[int][]int{2: {1}, 4: {0, 1}, 8: {0}} {
		for _, decoder := range decoders {
			net := tinyNetwork(factor, decoder)
			one, two := newRig(t, net, 1), newRig(t, net, 2)
			wantLoss, want := one.gradient(window, chunks(window, net, 1, 1, 1, 1, 1, 1, 1, 1, 1), 1.0/8)
			for name, split := range map[string][]int{"1x8": {8}, "2x4": {4, 4}, "4x2": {2, 2, 2, 2}, "8x1": {1, 1, 1, 1, 1, 1, 1, 1}} {
				for workers, r := range map[int]*rig{1: one, 2: two} {
					loss, got := r.gradient(window, chunks(window, net, workers, split...), 1.0/8)
					what := fmt.Sprintf("factor %d, %d decoder layers, %s, %d workers", factor, decoder, name, workers)
					sameLosses(t, what, loss, wantLoss, productTolerance)
					testkit.CloseRel(t, what, got, want, splitTolerance)
					worst = max(worst, testkit.RelErr(got, want))
				}
			}
			for batch := 1; batch <= 8; batch *= 2 {
				_, got := two.gradient(window, dealt(window, net, batch, 2), 1.0/8)
				testkit.CloseRel(t, fmt.Sprintf("dealt, batch %d", batch), got, want, splitTolerance)
				worst = max(worst, testkit.RelErr(got, want))
			}
		}
	}
	t.Logf("worst relative difference of a gradient: %.2g", worst)
}

// An utterance alone, padded, in every row, and with NaN in the padding has one loss and one gradient.
func TestPaddingAndRowsDontMatter(t *testing.T) {
	lengths := []int{1, 5, 37, 80, 81, 200}
	encoded := []int{1, 2, 10, 20, 21, 50}
	worst := 0.0
	for _, factor := range []int{2, 4, 8} {
		for _, decoder := range []int{0, 1} {
			net := tinyNetwork(factor, decoder)
			r := newRig(t, net, 1)
			var clean, padded []*data.Example
			for i, n := range lengths {
				s := frames.Subsampled(n, factor)
				if factor == 4 && s != encoded[i] {
					t.Errorf("%d frames are %d encoder frames, want %d", n, s, encoded[i])
				}
				e := noise(i, n, net.NumMels, tokensFor(max(1, s/2))...)
				p := *e
				p.Features = make([]float32, 256*net.NumMels)
				for j := copy(p.Features, e.Features); j < len(p.Features); j++ {
					p.Features[j] = float32(math.NaN())
				}
				clean, padded = append(clean, e), append(padded, &p)
			}
			const tokens = 64
			what := func(s string) string { return fmt.Sprintf("factor %d, %d decoder layers: %s", factor, decoder, s) }
			var losses []Loss
			var sum []float32
			for i, e := range clean {
				shape := model.Shape{Batch: 1, Frames: e.Frames, Tokens: len(e.Tokens)}
				loss, g := r.gradient([]*data.Example{e}, []microBatch{{rows: []int{0}, shape: shape}}, 1)
				losses = append(losses, loss[0])
				if sum == nil {
					sum = make([]float32, len(g))
				}
				for j, v := range g {
					sum[j] += v
				}
				shape = model.Shape{Batch: 1, Frames: 256, Tokens: tokens}
				loss, got := r.gradient(padded[i:i+1], []microBatch{{rows: []int{0}, shape: shape}}, 1)
				sameLosses(t, what(fmt.Sprintf("%d frames padded with NaN", e.Frames)), loss, losses[i:], productTolerance)
				testkit.CloseRel(t, what(fmt.Sprintf("gradient of %d frames padded with NaN", e.Frames)), got, g, productTolerance)
			}
			// A batch sums the weights' gradients over all its frames, the six alone are summed one by one: 2.3e-7 apart.
			for turn := range lengths {
				b := microBatch{shape: model.Shape{Batch: len(lengths), Frames: 256, Tokens: tokens}}
				for i := range lengths {
					b.rows = append(b.rows, (i+turn)%len(lengths))
				}
				loss, got := r.gradient(padded, []microBatch{b}, 1)
				sameLosses(t, what(fmt.Sprintf("batch of six, turned by %d", turn)), loss, losses, productTolerance)
				testkit.CloseRel(t, what(fmt.Sprintf("batch of six, turned by %d", turn)), got, sum, 5e-7+productTolerance)
				worst = max(worst, testkit.RelErr(got, sum))
			}
		}
	}
	t.Logf("worst relative difference of a gradient: %.2g", worst)
}

// Texts of very different lengths weigh alike however they are accumulated: the gradient is that of the sum.
func TestAccumulationIsTheLargerBatch(t *testing.T) {
	net := tinyNetwork(2, 1)
	r := newRig(t, net, 1)
	window := windowOfFour(net)
	_, want := r.gradient(window, chunks(window, net, 1, 4), 0.25)
	for _, split := range [][]int{{2, 2}, {1, 1, 1, 1}, {3, 1}} {
		_, got := r.gradient(window, chunks(window, net, 1, split...), 0.25)
		if e := testkit.RelErr(got, want); !(e <= 1e-6) { // float32 sums over 360 encoder frames in another order
			t.Errorf("split %v: the gradient is off by %.2g", split, e)
		}
		_, again := r.gradient(window, chunks(window, net, 1, split...), 0.25)
		if !slices.Equal(got, again) {
			t.Errorf("split %v: the same sums in the same order differ", split)
		}
	}
}

// An utterance draws what its own key, the seed and the number of the update say, wherever it stands.
func TestDropoutIsKeyed(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := newRig(t, net, 1)
	window := windowOfFour(net)
	loss := func(window []*data.Example, ask Ask) []Loss {
		ask.Scale = 1
		return r.pass(window, chunks(window, net, 1, len(window)), ask)
	}
	want := loss(window, Ask{Seed: 1 << 40, Update: 2})
	turned := loss(slices.Concat(window[2:], window[:2]), Ask{Seed: 1 << 40, Update: 2})
	sameLosses(t, "turned by two", slices.Concat(turned[2:], turned[:2]), want, productTolerance)
	other := *window[0]
	other.Utt = &data.Utterance{ID: "other", Key: window[0].Utt.Key + 1<<50}
	for what, losses := range map[string][]Loss{
		"another seed":      loss(window, Ask{Seed: 1<<40 + 1, Update: 2}),
		"another update":    loss(window, Ask{Seed: 1 << 40, Update: 3}),
		"another utterance": loss([]*data.Example{&other, window[1], window[2], window[3]}, Ask{Seed: 1 << 40, Update: 2}),
	} {
		if losses[0] == want[0] {
			t.Errorf("%s: the draws are the same", what)
		}
	}
}

package train

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// productTolerance bounds how far an utterance's loss and gradient may move with its padding, its row and its batch: not
// at all with our own kernels, which sum in one order wherever a row lies. OpenBLAS's sums end up to 9e-7 apart.
var productTolerance = testkit.Products(1.5e-6)

// tinyNetwork is a network of which a pass takes a millisecond. Dropout is on.
func tinyNetwork(factor, decoder int) model.Config {
	return model.Config{DModel: 16, Heads: 2, EncoderLayers: 2, DecoderLayers: decoder, ConvKernel: 5, Subsampling: factor,
		SubsampleChannels: 4, NumMels: 20, Vocab: 11, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1}
}

// open starts a core with drawn weights; those that begin at 0 or 1 are moved, so that each of them matters.
func open(t testing.TB, net model.Config, workers int, half bool) *core {
	t.Helper()
	c, err := newCore(device.NewHost(), net, workers, true, half)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	c.initialise(7)
	for i, p := range c.params {
		w := c.layout.View(c.weights.Floats(), p.Name)
		for j, v := range testkit.Normal[float32](uint64(i), len(w)) {
			w[j] += 0.05 * v
		}
	}
	return c
}

// noise is an utterance of random features and the tokens given.
func noise(id int, frames, bins int, tokens ...int32) *data.Example {
	return &data.Example{
		Utt: &data.Utterance{ID: fmt.Sprint(id), Key: uint64(1000 + id)}, Frames: frames, Tokens: tokens,
		Features: testkit.Normal[float32](uint64(id), frames*bins),
	}
}

// tokensFor is a target of n tokens without neighbours that are equal.
func tokensFor(n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(3 + (3*i+i/8)%8)
	}
	return tokens
}

// chunks makes micro-batches of the sizes given, in the order of the examples, dealt to the workers in turn.
func chunks(examples []*data.Example, c model.Config, workers int, sizes ...int) []microBatch {
	var batches []microBatch
	at := 0
	for k, n := range sizes {
		b := microBatch{worker: k % workers}
		longest, tokens := 0, 1
		for i := at; i < at+n; i++ {
			b.rows = append(b.rows, i)
			longest, tokens = max(longest, examples[i].Frames), max(tokens, len(examples[i].Tokens))
		}
		at += n
		b.shape = bucket(n, longest, tokens, c)
		batches = append(batches, b)
	}
	return batches
}

// gradient makes one pass and returns the losses and a copy of the summed gradient.
func gradient(t testing.TB, c *core, examples []*data.Example, batches []microBatch, scale float64) ([]rowLoss, []float32) {
	t.Helper()
	p := &pass{train: true, scale: float32(scale), seed: 3, update: 5, losses: make([]rowLoss, len(examples))}
	if err := c.run(examples, batches, p); err != nil {
		t.Fatal(err)
	}
	g, _, err := c.crew.Reduce()
	if err != nil {
		t.Fatal(err)
	}
	return p.losses, slices.Clone(g)
}

// sameLosses compares each utterance's loss; tol is relative to it, or absolute below 1 nat.
func sameLosses(t testing.TB, what string, got, want []rowLoss, tol float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i].total - want[i].total); !(d <= tol*max(1, want[i].total)) || got[i].infeasible != want[i].infeasible {
			t.Errorf("%s: loss of utterance %d is %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

// A window gives the same update however it is split: rows per pass, workers, and the dealing's own choice.
// Sound is read by the loader, with speeds and masks; dropout is on.
func TestSplitsOfAWindowGiveOneGradient(t *testing.T) {
	lines := babble(8, 9, 1)
	for i := range lines {
		lines[i].text = (letters + letters)[i : 2*i+2] // 2 to 9 letters: eight lengths
	}
	manifest := speak(t, lines...)
	// A weight's gradient is a float32 sum over the frames of eight utterances, hundreds of them, which each split takes
	// in another order: up to 7e-7 apart.
	const splitTolerance = 1.5e-6
	worst := 0.0
	for factor, decoders := range map[int][]int{2: {1}, 4: {0, 1}, 8: {0}} {
		for _, decoder := range decoders {
			cfg := tiny(t, manifest)
			cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 8, 1
			cfg.Model.Subsampling, cfg.Model.DecoderLayers = factor, 1
			run := start(t, cfg, nil)
			examples := windows(t, run, 1)[0].Examples
			net := cfg.Network(11)
			net.DecoderLayers = decoder
			one, two := open(t, net, 1, false), open(t, net, 2, false)
			wantLoss, want := gradient(t, one, examples, chunks(examples, net, 1, 1, 1, 1, 1, 1, 1, 1, 1), 1.0/8)
			for name, split := range map[string][]int{"1x8": {8}, "2x4": {4, 4}, "4x2": {2, 2, 2, 2}, "8x1": {1, 1, 1, 1, 1, 1, 1, 1}} {
				for workers, c := range map[int]*core{1: one, 2: two} {
					loss, got := gradient(t, c, examples, chunks(examples, net, workers, split...), 1.0/8)
					what := fmt.Sprintf("factor %d, %d decoder layers, %s, %d workers", factor, decoder, name, workers)
					sameLosses(t, what, loss, wantLoss, productTolerance)
					testkit.CloseRel(t, what, got, want, splitTolerance)
					worst = max(worst, testkit.RelErr(got, want))
				}
			}
			for batch := 1; batch <= 8; batch *= 2 {
				_, got := gradient(t, two, examples, deal(examples, net, batch, 2), 1.0/8)
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
			c := open(t, net, 1, false)
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
			var losses []rowLoss
			sum := make([]float32, c.layout.Words)
			for i, e := range clean {
				shape := model.Shape{Batch: 1, Frames: e.Frames, Tokens: len(e.Tokens)}
				loss, g := gradient(t, c, []*data.Example{e}, []microBatch{{rows: []int{0}, shape: shape}}, 1)
				losses = append(losses, loss[0])
				for j, v := range g {
					sum[j] += v
				}
				shape = model.Shape{Batch: 1, Frames: 256, Tokens: tokens}
				loss, got := gradient(t, c, padded[i:i+1], []microBatch{{rows: []int{0}, shape: shape}}, 1)
				sameLosses(t, what(fmt.Sprintf("%d frames padded with NaN", e.Frames)), loss, losses[i:], productTolerance)
				testkit.CloseRel(t, what(fmt.Sprintf("gradient of %d frames padded with NaN", e.Frames)), got, g, productTolerance)
			}
			// A batch sums the weights' gradients over all its frames, the six alone are summed one by one: 2.3e-7 apart.
			for turn := range lengths {
				b := microBatch{shape: model.Shape{Batch: len(lengths), Frames: 256, Tokens: tokens}}
				for r := range lengths {
					b.rows = append(b.rows, (r+turn)%len(lengths))
				}
				loss, got := gradient(t, c, padded, []microBatch{b}, 1)
				sameLosses(t, what(fmt.Sprintf("batch of six, turned by %d", turn)), loss, losses, productTolerance)
				testkit.CloseRel(t, what(fmt.Sprintf("batch of six, turned by %d", turn)), got, sum, 5e-7+productTolerance)
				worst = max(worst, testkit.RelErr(got, sum))
			}
		}
	}
	t.Logf("worst relative difference of a gradient: %.2g", worst)
}

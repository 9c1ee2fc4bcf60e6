package update

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// said is what a pass gives of an utterance for a decoder.
type said struct {
	memory []Memory
	frames int
}

// listen makes a pass and copies what the decoder reads of each row.
func listen(t testing.TB, r *Runner, window []*data.Example, purpose model.Purpose) ([]said, []Loss) {
	t.Helper()
	rows := make([]said, len(window))
	losses, err := r.Run(window, Ask{Purpose: purpose, Memory: func(_, row int, memory []Memory) {
		for _, m := range memory {
			rows[row].memory = append(rows[row].memory, Memory{slices.Clone(m.Keys), slices.Clone(m.Values)})
		}
		rows[row].frames = window[row].Frames
	}})
	if err != nil {
		t.Fatal(err)
	}
	return rows, slices.Clone(losses)
}

// walker goes through the tokens of an utterance, step by step, with what it keeps of the steps.
type walker struct {
	said
	tokens []int32
	kept   [][]Memory // of each step, by block
	logits [][]float32
}

// step is its next one.
func (w *walker) step() Step {
	at := len(w.kept)
	token := int32(1)
	if at > 0 {
		token = w.tokens[at-1]
	}
	return Step{
		Frames: w.frames, Memory: w.memory, Tokens: []int32{token}, At: []int32{int32(at)},
		Keep: func(_, n int, keys, values []float32) {
			d := len(keys) / max(at, 1)
			for i, m := range w.kept {
				copy(keys[i*d:][:d], m[n].Keys)
				copy(values[i*d:][:d], m[n].Values)
			}
		},
		Take: func(_ int, logits []float32, kept []Memory) {
			var own []Memory
			for _, m := range kept {
				own = append(own, Memory{slices.Clone(m.Keys), slices.Clone(m.Values)})
			}
			w.kept = append(w.kept, own)
			w.logits = append(w.logits, slices.Clone(logits))
		},
	}
}

// ce is the cross-entropy of the tokens and the end, in nats, without smoothing.
func (w *walker) ce() (sum float64) {
	for at, logits := range w.logits {
		want := int32(1)
		if at < len(w.tokens) {
			want = w.tokens[at]
		}
		norm := 0.0
		for _, x := range logits {
			norm += math.Exp(float64(x))
		}
		sum += math.Log(norm) - float64(logits[want])
	}
	return sum
}

// The steps of a decoder with kept keys and values give, to rounding, the cross-entropy of the whole decoder, which
// computes all of them anew. Step by step they are the same, to the bit, whatever is made beside them and by however
// many workers; and so is what the steps read of the encoder, for listening and scoring.
func TestStepsAreTheWholeDecoder(t *testing.T) {
	net := tinyNetwork(4, 2)
	net.LabelSmoothing = 0
	window := windowOfEight(net)
	var want [][][]float32
	for _, workers := range []int{1, 2} {
		r := NewRunner(net, newCrew(t, net, workers), 4)
		rows, losses := listen(t, r, window, model.Scoring)
		again, _ := listen(t, r, window, model.Listening)
		var walkers []*walker
		for i, s := range rows {
			for n := range s.memory {
				what := fmt.Sprintf("%d workers: memory of row %d, block %d", workers, i, n)
				testkit.CloseRel(t, what, again[i].memory[n].Keys, s.memory[n].Keys, productTolerance)
				testkit.CloseRel(t, what, again[i].memory[n].Values, s.memory[n].Values, productTolerance)
			}
			walkers = append(walkers, &walker{said: s, tokens: window[i].Tokens})
		}
		// All together, each as long as it goes.
		for {
			var steps []Step
			for _, w := range walkers {
				if len(w.kept) <= len(w.tokens) {
					steps = append(steps, w.step())
				}
			}
			if len(steps) == 0 {
				break
			}
			if err := r.Steps(steps); err != nil {
				t.Fatal(err)
			}
		}
		for i, w := range walkers {
			// Sums of some tokens' logarithms, of float32 logits that go through six sums of 16 products in a row.
			if got := w.ce(); math.Abs(got-losses[i].CE) > 1e-5*(1+losses[i].CE) {
				t.Errorf("%d workers, row %d: cross-entropy %.7f step by step, %.7f of the whole", workers, i, got, losses[i].CE)
			}
			if workers == 1 {
				want = append(want, w.logits)
			}
			alone := &walker{said: w.said, tokens: w.tokens}
			for range len(w.tokens) + 1 {
				if err := r.Steps([]Step{alone.step()}); err != nil {
					t.Fatal(err)
				}
			}
			for at := range w.logits {
				testkit.CloseRel(t, fmt.Sprintf("%d workers, row %d, step %d alone", workers, i, at), alone.logits[at], w.logits[at], 0)
				testkit.CloseRel(t, fmt.Sprintf("%d workers, row %d, step %d", workers, i, at), w.logits[at], want[i][at], productTolerance)
			}
		}
	}
}

// Prefixes of one step don't change each other.
func TestPrefixesOfAStep(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := NewRunner(net, newCrew(t, net, 1), 4)
	rows, _ := listen(t, r, windowOfFour(net), model.Listening)
	w := &walker{said: rows[0], tokens: []int32{3, 4, 5, 3}}
	for range 4 {
		if err := r.Steps([]Step{w.step()}); err != nil {
			t.Fatal(err)
		}
	}
	// Its own steps again, all in one: each sees what was kept before it.
	many := Step{Frames: w.frames, Memory: w.memory, Tokens: []int32{1, 3, 4, 5}, At: []int32{0, 1, 2, 3}}
	many.Keep = func(i, n int, keys, values []float32) {
		d := net.DModel
		for at := range i {
			copy(keys[at*d:][:d], w.kept[at][n].Keys)
			copy(values[at*d:][:d], w.kept[at][n].Values)
		}
	}
	many.Take = func(i int, logits []float32, _ []Memory) {
		testkit.CloseRel(t, fmt.Sprint("prefix ", i), logits, w.logits[i], productTolerance)
	}
	if err := r.Steps([]Step{many}); err != nil {
		t.Fatal(err)
	}
	many.At = many.At[:1]
	testkit.MustFail(t, r.Steps([]Step{many}), "4 prefixes at 1 places")
}

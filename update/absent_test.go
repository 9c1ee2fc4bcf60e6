package update

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// Utterances whose file can't be read keep their rows, and the update is what it would be without them: alone in a
// micro-batch or among others, with whatever an earlier window has left in their rows.
func TestUnreadableRowsAreAbsent(t *testing.T) {
	for _, decoder := range []int{0, 1} {
		for _, half := range []bool{false, true} {
			for _, batch := range []int{1, 2, 4} {
				t.Run(fmt.Sprintf("%d decoder layers, half %v, batch %d", decoder, half, batch), func(t *testing.T) {
					net := tinyNetwork(4, decoder)
					o := options
					o.BatchSize, o.Half = batch, half
					whole, rest := newRig(t, net, 2), newRig(t, net, 2)
					u, v := New(net, whole.Replica, o), New(net, rest.Replica, o)
					window := windowOfEight(net)
					spoiled := make([]*data.Example, len(window))
					for i, e := range window {
						bad := *e
						bad.Features = slices.Repeat([]float32{float32(math.NaN())}, len(e.Features))
						spoiled[i] = &bad
					}
					if out, err := u.Update(spoiled); err != nil || out.Skipped != NotFiniteGradient {
						t.Fatalf("a window of NaN: %+v, %v", out, err)
					}
					u.LossScale = v.LossScale // the overflow has halved it
					var left []*data.Example
					for i, e := range window {
						if i == 1 || i == 2 || i == 7 { // the longest, one of two equal ones, and the shortest
							window[i] = unread(e)
						} else {
							left = append(left, e)
						}
					}
					got, want := mustUpdate(t, u, window), mustUpdate(t, v, left)
					if got.Utterances != 5 || !slices.Equal(got.Unreadable, []string{"utt1", "utt2", "utt7"}) || want.Unreadable != nil {
						t.Errorf("%+v, want 5 utterances, and utt1, utt2 and utt7 named", got)
					}
					// Gradients are float32 sums over the frames of five utterances in another order, as wherever a window is split
					// in another way. Half precision stores only what has 1024 elements, which is more in larger micro-batches: a
					// gradient may differ by the rounding of float16, 11 bits.
					tolerance := 1.5e-6
					if half {
						tolerance = 1e-3
					}
					near := func(what string, a, b, tol float64) {
						t.Helper()
						if !(math.Abs(a-b) <= tol*math.Abs(b)) {
							t.Errorf("%s is %v, without the absent rows %v", what, a, b)
						}
					}
					near("loss", got.Loss, want.Loss, productTolerance+1e-15)
					near("CTC", got.CTC, want.CTC, productTolerance+1e-15)
					near("cross-entropy", got.CE, want.CE, productTolerance+1e-15)
					near("norm", got.Norm, want.Norm, tolerance)
					near("seconds", got.Audio, want.Audio, 1e-15)
					testkit.CloseRel(t, "gradient", whole.all(engine.FirstMoments), rest.all(engine.FirstMoments), tolerance)
					losses, err := u.Runner.Run(window, u.ask(1))
					if err != nil {
						t.Fatal(err)
					}
					for i, l := range losses {
						if gone := window[i].Err != nil; gone != (l == Loss{}) {
							t.Errorf("loss %d is %+v; unreadable: %v", i, l, gone)
						}
					}
				})
			}
		}
	}
}

// windowOfEight is eight utterances in micro-batches of several sizes; the second is the longest, the last the
// shortest.
func windowOfEight(net model.Config) []*data.Example {
	var window []*data.Example
	for i, n := range []int{90, 160, 90, 33, 60, 61, 140, 30} {
		window = append(window, noise(i, n, net.NumMels, tokensFor(3+i%3)...))
	}
	return window
}

// A window without any readable file is skipped, and changes nothing.
func TestNothingReadable(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := newRig(t, net, 2)
	c := &counting{Replica: r.Replica}
	u := New(net, c, options)
	window := windowOfFour(net)
	for i, e := range window {
		window[i] = unread(e)
	}
	before := r.everything(u)
	out, err := u.Update(window)
	if err != nil || out.Skipped != NothingReadable || out.Utterances != 0 || len(out.Unreadable) != 4 || c.prepared != 0 {
		t.Errorf("%+v, %v, and %d passes were prepared", out, err, c.prepared)
	}
	if out, err = u.Update(nil); err != nil || out.Skipped != NothingReadable {
		t.Errorf("an empty window: %+v, %v", out, err)
	}
	testkit.Close(t, "weights, moments, rate and count", r.everything(u), before, 0)
}

// Scoring and transcribing leave absent rows out, and the others are as without them.
func TestAbsentRowsHaveNoLogits(t *testing.T) {
	for _, decoder := range []int{0, 1} {
		net := tinyNetwork(4, decoder)
		r := newRig(t, net, 2)
		x := NewRunner(net, r.Replica, 4)
		window := windowOfEight(net)
		want := logitsOf(t, x, window, model.Scoring)
		if len(want) != len(window) {
			t.Fatalf("there are logits of %d utterances", len(want))
		}
		for _, i := range []int{1, 2, 7} {
			window[i] = unread(window[i])
			delete(want, i)
		}
		for _, purpose := range []model.Purpose{model.Scoring, model.Transcribing} {
			got := logitsOf(t, x, window, purpose)
			if len(got) != len(want) {
				t.Errorf("%d decoder layers, purpose %d: there are logits of %d rows, want %d", decoder, purpose, len(got), len(want))
			}
			for i := range want {
				testkit.CloseRel(t, fmt.Sprintf("logits of row %d", i), got[i], want[i], productTolerance)
			}
		}
	}
}

// logitsOf makes a pass and copies the logits of each row.
func logitsOf(t *testing.T, x *Runner, window []*data.Example, purpose model.Purpose) map[int][]float32 {
	t.Helper()
	rows := make([][]float32, len(window))
	ask := Ask{Purpose: purpose, Logits: func(_, row int, logits []float32) { rows[row] = slices.Clone(logits) }}
	losses, err := x.Run(window, ask)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int][]float32{}
	for i, l := range rows {
		if l == nil {
			continue
		}
		got[i] = l
		if n := (window[i].Frames + 3) / 4 * x.Net.Vocab; len(l) != n {
			t.Errorf("%d logits of row %d, want %d", len(l), i, n)
		}
	}
	for i, l := range losses {
		if some := l != (Loss{}); some != (purpose == model.Scoring && window[i].Err == nil) {
			t.Errorf("purpose %d: loss %d is %+v", purpose, i, l)
		}
	}
	return got
}

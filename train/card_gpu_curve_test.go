//go:build gpu

package train

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/device/cuda/simulated"
	"konkanitrain/update"
)

// konkani is a small network to be trained on the bundled example: two encoder layers and a decoder's, 2 words in a
// micro-batch and 4 in an update.
func konkani(t testing.TB) Config {
	cfg := tiny(t, filepath.Join("..", "examples", "konkani_words", "train.jsonl"))
	cfg.Model.DModel, cfg.Model.Heads, cfg.Model.ConvKernel, cfg.Model.Subsampling = 32, 4, 7, 2
	cfg.Run.CPUWorkers = 1
	return cfg
}

// curve is the losses of one update with each window, the next one's inputs on their way while it is made. before is
// called before each; nil for nothing.
func curve(t *testing.T, r *run, list []*data.Window, before func(i int)) (losses []float64) {
	t.Helper()
	for i, w := range list {
		if before != nil {
			before(i)
		}
		r.updater.Next = nil
		if i+1 < len(list) {
			r.updater.Next = func() []*data.Example { return list[i+1].Examples }
		}
		out, err := r.updater.Update(w.Examples)
		if err != nil || out.Skipped != update.Made {
			t.Fatalf("window %d: %+v, %v", i+1, out, err)
		}
		losses = append(losses, out.Loss)
	}
	return losses
}

// The losses of thirty updates on a simulated card are those on the CPU: in float32 to a thousandth, in half precision
// to two percent, which is what float16 rounds in activations. With work that is queued and runs late it is the same.
// An overflow in between changes nothing but the loss scale, and the window comes again.
func TestSimulatedCurves(t *testing.T) {
	cfg := konkani(t)
	cpu := start(t, cfg, nil)
	list := windows(t, cpu, 30)
	want := curve(t, cpu, list, nil)
	if first, last := want[0], want[len(want)-1]; last > 0.8*first {
		t.Fatalf("the loss goes from %v to %v: nothing is learned", first, last)
	}
	for _, lazy := range []string{"0", "1"} {
		for _, half := range []bool{false, true} {
			t.Run(fmt.Sprintf("lazy %s, fp16 %v", lazy, half), func(t *testing.T) {
				card, l := onSimulated(t, elsewhere(t, cfg))
				setLazy(t, l, lazy)
				card.Run.FP16 = half
				r := start(t, card, nil)
				bound, before := 1e-3, func(int) {}
				if half {
					r.updater.LossScale.Scale = 1 // which overflows nowhere: at the start the gradient's norm is in the thousands
					bound, before = 2e-2, func(i int) {
						if i == 10 {
							overflow(t, r, list[i])
						}
					}
				}
				got := curve(t, r, list, before)
				worst := 0.0
				for i := range want {
					worst = max(worst, math.Abs(want[i]-got[i])/want[i])
				}
				t.Logf("losses from %.2f to %.2f, at most %.2g away from the CPU's", got[0], got[len(got)-1], worst)
				sameLosses(t, want, got, bound)
			})
		}
	}
}

// Inputs that were sent ahead to the end of the arena are sent again where the arena is another one meanwhile.
func TestSimulatedArenaMoves(t *testing.T) {
	cfg, _ := onSimulated(t, alike(t, 8000))
	losses := func(before func(*run)) []float64 {
		r := start(t, elsewhere(t, cfg), nil)
		defer r.close()
		return curve(t, r, windows(t, r, 5), func(int) { before(r) })
	}
	want := losses(func(*run) {})
	if got := losses(func(r *run) { r.replica.Shrink(0) }); !slices.Equal(want, got) {
		t.Errorf("losses %v with a new arena for each update, %v with one", got, want)
	}
}

// setLazy lets a simulated card work at once, "0", or when it is waited for, "1".
func setLazy(t *testing.T, l simulated.Libraries, lazy string) {
	t.Helper()
	if err := l.Control(t).Set("lazy", lazy); err != nil {
		t.Fatal(err)
	}
}

// overflow makes an update of a window overflow, and looks at what it leaves.
func overflow(t *testing.T, r *run, w *data.Window) {
	t.Helper()
	u := r.updater
	scale, before := u.LossScale.Scale, everything(t, r)
	u.LossScale.Scale = 1 << 40
	out, err := u.Update(w.Examples)
	if err != nil || out.Skipped != update.NotFiniteGradient {
		t.Fatalf("a loss scale of 2^40: %+v, %v", out, err)
	}
	if u.LossScale.Scale != 1<<39 || u.LossScale.Good != 0 {
		t.Errorf("after an overflow: %+v", u.LossScale)
	}
	if !slices.Equal(before, everything(t, r)) {
		t.Error("an overflow has changed weights, moments, learning rate or the number of updates")
	}
	u.LossScale.Scale = scale
}

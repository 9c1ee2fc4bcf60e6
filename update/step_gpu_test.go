//go:build gpu

package update

import (
	"math"
	"testing"

	"konkanitrain/model"
)

// On a simulated card a decoder's steps give the cross-entropy of the whole decoder too.
func TestSimulatedCardSteps(t *testing.T) {
	net := tinyNetwork(4, 2)
	net.LabelSmoothing = 0
	r := NewRunner(net, newCard(t, openSimulated(t), net, false), 4)
	window := windowOfFour(net)
	rows, losses := listen(t, r, window, model.Scoring)
	for i, s := range rows {
		w := &walker{said: s, tokens: window[i].Tokens}
		for range len(w.tokens) + 1 {
			if err := r.Steps([]Step{w.step()}); err != nil {
				t.Fatal(err)
			}
		}
		// Sums of some tokens' logarithms, of float32 logits that go through six sums of 16 products in a row.
		if got := w.ce(); math.Abs(got-losses[i].CE) > 1e-5*(1+losses[i].CE) {
			t.Errorf("row %d: cross-entropy %.7f step by step, %.7f of the whole", i, got, losses[i].CE)
		}
	}
}

package update

import (
	"math"
	"testing"

	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// By hand: the first averages forget their start, later ones keep what is asked for, and of 0 nothing stays.
func TestEMADecay(t *testing.T) {
	for _, c := range []struct {
		decay float64
		t     int
		want  float64
	}{{0.999, 1, 2. / 11}, {0.999, 90, 0.91}, {0.999, 8990, 8991. / 9000}, {0.999, 8991, 0.999}, {0.999, 1 << 30, 0.999}, {0.1, 1, 0.1}, {0, 5, 0}} {
		if got := EMADecay(c.decay, c.t); got != c.want {
			t.Errorf("decay %g, update %d: %v stays, want %v", c.decay, c.t, got, c.want)
		}
	}
}

// An updater takes each update's weights into the averages, by the number of the update; one that is not made moves
// nothing.
func TestUpdaterKeepsAverages(t *testing.T) {
	net := tinyNetwork(4, 1)
	r := rigOf(t, net, crewWith(t, net, 2, Tuning{Averages: true}))
	o := options
	o.EMADecay = 0.3
	u := New(net, r.Replica, o)
	u.Updates = 1 // 0.25 stays at the next, and 0.3 after that
	for _, keep := range []float64{0.25, 0.3} {
		before := r.all(engine.Averages)
		mustUpdate(t, u, windowOfFour(net))
		for i, w := range r.all(engine.Weights) {
			before[i] = float32(keep*float64(before[i]) + (1-keep)*float64(w))
		}
		testkit.Close(t, "averages", r.all(engine.Averages), before, 4*4*0x1p-24) // four roundings of numbers below 4
	}
	before := r.all(engine.Averages)
	r.edit(engine.Weights, model.Parameters(net)[0].Name, func(w []float32) { w[0] = float32(math.Inf(1)) })
	if out, err := u.Update(windowOfFour(net)); err == nil || out.Skipped != NotFiniteGradient {
		t.Fatalf("%+v, %v", out, err)
	}
	testkit.Close(t, "averages after an update that was not made", r.all(engine.Averages), before, 0)
}

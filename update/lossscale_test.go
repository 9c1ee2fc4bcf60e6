package update

import (
	"math"
	"slices"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
)

// scaleLine is one event in the life of a loss scale: "g" a finite gradient, "o" an overflow.
type scaleLine struct {
	Event      string
	Scale      float64
	GoodInARow int `json:"good_in_a_row"`
	Updates    int
	Stop       bool
}

// play holds a scale to a list of events.
func play(t *testing.T, s LossScale, lines []scaleLine) {
	t.Helper()
	updates := lines[0].Updates
	if lines[0].Event == "g" {
		updates--
	}
	for i, line := range lines {
		var err error
		if line.Event == "g" {
			s.Succeeded()
			updates++
		} else {
			err = s.Overflowed()
		}
		if s.Scale != line.Scale || s.Good != line.GoodInARow || updates != line.Updates || (err != nil) != line.Stop {
			t.Fatalf("event %d (%s): %+v after %d updates, error %v, want %+v", i+1, line.Event, s, updates, err, line)
		}
		if err != nil {
			testkit.MustContain(t, err.Error(), "loss scale", "learning_rate")
		}
	}
}

func TestLossScale(t *testing.T) {
	var example struct {
		Mixed, Growth, Collapse []scaleLine
		CollapseOverflows       int `json:"collapse_overflows"`
	}
	numbers(t, "loss_scale.json", &example)
	t.Run("mixed", func(t *testing.T) { play(t, NewLossScale(), example.Mixed) })
	t.Run("growth", func(t *testing.T) { play(t, LossScale{Scale: 1024, GrowEvery: 3}, example.Growth) })
	t.Run("collapse", func(t *testing.T) {
		s := NewLossScale()
		for range example.CollapseOverflows - len(example.Collapse) {
			if err := s.Overflowed(); err != nil {
				t.Fatal(err)
			}
		}
		play(t, s, example.Collapse)
	})
}

// The start: 65536, doubled after 2000 updates.
func TestNewLossScale(t *testing.T) {
	s := NewLossScale()
	for i := range 2000 {
		if s.Scale != 65536 || s.Good != i {
			t.Fatalf("after %d updates: %+v", i, s)
		}
		s.Succeeded()
	}
	if s.Scale != 131072 || s.Good != 0 {
		t.Errorf("after 2000 updates: %+v", s)
	}
}

// Three overflows below a scale of 1 are an error only if they come one after the other.
func TestLossScaleCountsOverflowsInARow(t *testing.T) {
	s := LossScale{Scale: 1, GrowEvery: 2000}
	for i, c := range []struct {
		overflow bool
		low      int
		stop     bool
	}{{true, 1, false}, {true, 2, false}, {false, 0, false}, {true, 1, false}, {true, 2, false}, {true, 3, true}} {
		var err error
		if c.overflow {
			err = s.Overflowed()
		} else {
			s.Succeeded()
		}
		if s.Low != c.low || (err != nil) != c.stop {
			t.Fatalf("event %d: %+v, error %v, want %+v", i+1, s, err, c)
		}
	}
}

// An overflow leaves weights, moments, rate and count as they are, bit for bit; good windows go on.
func TestOverflowChangesNothing(t *testing.T) {
	var example struct{ Mixed []scaleLine }
	numbers(t, "loss_scale.json", &example)
	net := tinyNetwork(4, 1)
	r := newRig(t, net, 2)
	o := options
	o.Half = true
	u := New(net, r.Replica, o)
	window := windowOfFour(net)
	good := window[0].Features[5]
	for i, line := range example.Mixed {
		before := r.everything(u)
		window[0].Features[5] = good
		if line.Event == "o" {
			window[0].Features[5] = float32(math.Inf(1))
		}
		out, err := u.Update(window)
		if err != nil {
			t.Fatal(err)
		}
		if s := u.LossScale; s.Scale != line.Scale || s.Good != line.GoodInARow || u.Updates != line.Updates {
			t.Errorf("event %d (%s): %+v after %d updates, want %+v", i+1, line.Event, s, u.Updates, line)
		}
		if line.Event == "g" {
			if out.Skipped != Made || slices.Equal(before, r.everything(u)) {
				t.Errorf("event %d: nothing was learned: %+v", i+1, out)
			}
			continue
		}
		testkit.Close(t, "weights, moments, rate and count after an overflow", r.everything(u), before, 0)
		if out.Skipped != NotFiniteGradient || !slices.Equal(out.NotFinite, []string{"utt0"}) || out.Loss != 0 || out.CTC != 0 || out.CE != 0 {
			t.Errorf("event %d: %+v, want no losses, and utt0 named", i+1, out)
		}
	}
}

// A scale that has fallen below 1 stops the run at the third overflow in a row.
func TestOverflowAtALowScale(t *testing.T) {
	net := tinyNetwork(4, 0)
	o := options
	o.Half = true
	u := New(net, newCrew(t, net, 1), o)
	u.LossScale.Scale = 1
	window := windowOfFour(net)
	window[1].Features[0] = float32(math.NaN())
	for i := range 3 {
		out, err := u.Update(window)
		if (err != nil) != (i == 2) || out.Skipped != NotFiniteGradient {
			t.Fatalf("overflow %d: %+v, %v", i+1, out, err)
		}
	}
	if u.LossScale.Scale != 0.125 {
		t.Errorf("the scale is %v", u.LossScale.Scale)
	}
}

// In full precision there is no scale, and a window whose gradient is not finite is skipped all the same.
func TestNotFiniteInFullPrecision(t *testing.T) {
	net := tinyNetwork(4, 0)
	r := newRig(t, net, 2)
	u := New(net, r.Replica, options)
	before := r.everything(u)
	window := windowOfFour(net)
	window[1].Features[7] = float32(math.Inf(-1))
	for range 5 {
		out, err := u.Update(window)
		if err != nil || out.Skipped != NotFiniteGradient || !slices.Equal(out.NotFinite, []string{"utt1"}) {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	testkit.Close(t, "weights, moments, rate and count", r.everything(u), before, 0)
	if u.LossScale != NewLossScale() {
		t.Errorf("the loss scale is %+v", u.LossScale)
	}
	if out := mustUpdate(t, u, windowOfFour(net)); u.Updates != 1 || out.NotFinite != nil {
		t.Errorf("a good window afterwards: %+v", out)
	}
}

// squares is a replica whose gradient has a norm of its own.
type squares struct {
	Replica
	sum float64
}

func (s squares) Reduce() (float64, error) {
	_, err := s.Replica.Reduce()
	return s.sum, err
}

// A loss that is not finite is enough, and so is a gradient: then nobody is named.
func TestNotFiniteLossOrGradient(t *testing.T) {
	net := tinyNetwork(4, 0)
	crew := newCrew(t, net, 1)
	bad := windowOfFour(net)
	bad[1].Features[0] = float32(math.NaN())
	for _, c := range []struct {
		window []*data.Example
		sum    float64
		named  []string
	}{{bad, 4, []string{"utt1"}}, {windowOfFour(net), math.Inf(1), nil}, {windowOfFour(net), math.NaN(), nil}} {
		u := New(net, squares{crew, c.sum}, options)
		out, err := u.Update(c.window)
		if err != nil || out.Skipped != NotFiniteGradient || !slices.Equal(out.NotFinite, c.named) || u.Updates != 0 {
			t.Errorf("squares of %v: %+v, %v", c.sum, out, err)
		}
	}
}

// The loss scale divides out: half precision with any scale gives the same norm, near that of full precision, and the
// same weights.
func TestLossScaleDividesOut(t *testing.T) {
	net := tinyNetwork(4, 1)
	var norms []float64
	var weights [][]float32
	for _, scale := range []float64{0, 1, 65536} {
		r := newRig(t, net, 2)
		o := options
		o.Half, o.GradClip = scale > 0, 0.5
		u := New(net, r.Replica, o)
		u.LossScale.Scale = scale
		norms = append(norms, mustUpdate(t, u, windowOfFour(net)).Norm)
		weights = append(weights, r.everything(u))
	}
	// A power of two moves exponents only; activations stored in float16 have 11 bits.
	if norms[1] != norms[2] || !(math.Abs(norms[1]/norms[0]-1) <= 1e-2) || norms[0] < 1 {
		t.Errorf("gradient norms are %v in full precision, at scale 1 and at scale 65536", norms)
	}
	testkit.Close(t, "weights and moments at scale 65536", weights[2], weights[1], 0)
}

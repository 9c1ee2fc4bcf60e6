package decode

import (
	"math"
	"testing"

	"konkanitrain/internal/testkit"
)

// judged draws units whose share of right ones a calibration says.
func judged(seed uint64, n int, c Calibration) (units []Judged) {
	r := rng(seed)
	for range n {
		confidence := 0.02 + 0.96*r.Float64()
		units = append(units, Judged{confidence, r.Float64() < c.Apply(confidence)})
	}
	return units
}

// A planted calibration is found again, at a place where the loss is flat; and confidences that it has corrected are
// reliable where they weren't.
func TestCalibrateFindsWhatWasPlanted(t *testing.T) {
	for _, want := range []Calibration{{1, 0}, {0.5, 1}, {2, -1}, {0.2, -0.5}} {
		units := judged(1, 20000, want)
		got, err := Calibrate(units)
		// The deviations of estimates from 20,000 units are about 0.02 and 0.03.
		if err != nil || math.Abs(got.Slope-want.Slope) > 0.1 || math.Abs(got.Offset-want.Offset) > 0.12 {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		p := platt{units: units, right: 1, wrong: 0}
		for _, d := range []Calibration{{1e-2, 0}, {-1e-2, 0}, {0, 1e-2}, {0, -1e-2}} {
			if p.loss(Calibration{got.Slope + d.Slope, got.Offset + d.Offset}) < p.loss(got) {
				t.Errorf("%+v: the loss is lower at %+v more", got, d)
			}
		}
		applied := make([]Judged, len(units))
		for i, u := range units {
			applied[i] = Judged{got.Apply(u.Confidence), u.Right}
		}
		before, after := NewReliability(units, 10), NewReliability(applied, 10)
		if after.ECE > 0.02 || after.NCE < before.NCE-1e-4 || after.NCE <= 0 {
			t.Errorf("%+v:\n%v\nafter\n%v", want, before, after)
		}
	}
}

func TestCalibrationKeepsOrder(t *testing.T) {
	for _, units := range [][]Judged{judged(2, 100, Calibration{1, 0}), judged(3, 5000, Calibration{-1, 0}), judged(4, 60, Calibration{0, 0}), separable(), alike()} {
		c, err := Calibrate(units)
		if err != nil || c.Slope < 0 || !finite(c.Slope) || !finite(c.Offset) {
			t.Fatalf("%+v, %v", c, err)
		}
		before := -1.0
		for x := range 101 {
			p := c.Apply(float64(x) / 100)
			if p < before || !(p >= 0 && p <= 1) {
				t.Errorf("%+v: %d %% has %v, what is less sure %v", c, x, p, before)
			}
			before = p
		}
	}
	// Confidences that say the opposite are of no use.
	if c, _ := Calibrate(judged(3, 5000, Calibration{-1, 0})); c.Slope != 0 || math.Abs(c.Apply(0.9)-0.5) > 0.05 {
		t.Errorf("%+v", c)
	}
	if c, _ := Calibrate(alike()); math.Abs(c.Apply(0.8)-0.75) > 0.03 {
		t.Errorf("30 of 40 units of one confidence are right: %+v, %v", c, c.Apply(0.8))
	}
}

// separable are units of which a threshold tells all.
func separable() (units []Judged) {
	for i := range 100 {
		units = append(units, Judged{float64(i) / 100, i > 40})
	}
	return units
}

// alike are units of one confidence, 30 of 40 right.
func alike() (units []Judged) {
	for i := range 40 {
		units = append(units, Judged{0.8, i%4 > 0})
	}
	return units
}

// A single wrong unit is enough for doubts about those like it, and what changes nothing changes nothing.
func TestCalibrateFew(t *testing.T) {
	c, err := Calibrate(separable()[40:60])
	if err != nil || !(c.Apply(0.4) < 0.85 && c.Apply(0.59) > 0.97) {
		t.Errorf("%+v, %v: %v and %v", c, err, c.Apply(0.4), c.Apply(0.59))
	}
	for _, x := range []float64{0, 1e-9, 0.3, 1} {
		if got := Unchanged.Apply(x); got != x {
			t.Errorf("%v becomes %v", x, got)
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	some := judged(5, 100, Calibration{1, 0})
	for want, units := range map[string][]Judged{
		"of 0 recognized words 0 are right and 0 wrong":                                nil,
		"of 19 recognized words 18 are right and 1 wrong, and it takes 20":             separable()[40:59],
		"of 59 recognized words 59 are right and 0 wrong, and it takes 20, some right": separable()[41:],
		"the confidence of unit 101 is NaN":                                            append(some[:100:100], Judged{math.NaN(), true}),
		"the confidence of unit 101 is 1.5":                                            append(some[:100:100], Judged{1.5, true}),
	} {
		_, err := Calibrate(units)
		testkit.MustFail(t, err, "calibration: ", want)
	}
}

func TestReliability(t *testing.T) {
	units := []Judged{{0.1, false}, {0.2, true}, {0.6, false}, {0.9, true}, {1, true}, {0.5, true}}
	r := NewReliability(units, 2)
	want := []Bin{{0, 0.5, 2, 0.15, 0.5}, {0.5, 1, 4, 0.75, 0.75}}
	for i, b := range r.Bins {
		got := []float64{b.Low, b.High, float64(b.Units), b.Confidence, b.Right}
		testkit.Close(t, "bin", got, []float64{want[i].Low, want[i].High, float64(want[i].Units), want[i].Confidence, want[i].Right}, 1e-12)
	}
	entropy := -(math.Log(0.9) + math.Log(0.2) + math.Log(0.4) + math.Log(0.9) + math.Log(0.5)) / 6
	base := -4./6*math.Log(4./6) - 2./6*math.Log(2./6)
	if !near(r.ECE, 2./6*0.35) || !near(r.NCE, 1-entropy/base) || !near(r.Right, 4./6) || r.Units != 6 {
		t.Errorf("%+v, want NCE %v", r, 1-entropy/base)
	}
	testkit.MustContain(t, r.String(), "0.00 - 0.50        2  0.1500  0.5000", "6 units, 66.67 % right, expected calibration error 0.1167")
	// What is perfect, what says nothing, what is surely wrong, and what is none.
	if r := NewReliability([]Judged{{1, true}, {0, false}}, 10); r.ECE != 0 || r.NCE != 1 {
		t.Errorf("%+v", r)
	}
	if r := NewReliability(alike(), 10); !near(r.ECE, 0.05) || r.NCE > 0 {
		t.Errorf("%+v", r)
	}
	if r := NewReliability([]Judged{{0, true}, {1, false}, {math.NaN(), true}, {7, true}, {-7, false}}, 0); !finite(r.NCE) || r.NCE > -5 {
		t.Errorf("%+v", r)
	}
	if r := NewReliability(nil, 10); r.Units != 0 || r.ECE != 0 || r.NCE != 0 || r.Right != 0 {
		t.Errorf("%+v", r)
	}
}

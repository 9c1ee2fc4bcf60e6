package decode

import (
	"math"
	"testing"

	"konkanitrain/internal/testkit"
)

// measures are all kinds of them.
func measures() (all []Confidence) {
	for _, alpha := range []float64{0.25, 1. / 3, 1, 2} {
		for _, exponential := range []bool{false, true} {
			for _, a := range []Aggregate{Least, Mean, Product} {
				all = append(all, Confidence{alpha, exponential, a})
			}
		}
	}
	return all
}

// Laptev and Ginsburg's formulas, written down for probabilities.
func (c Confidence) reference(p []float64) float64 {
	v, a := float64(len(p)), c.Alpha
	sum := 0.0
	for _, x := range p {
		if a == 1 {
			sum += x * math.Log(x)
		} else {
			sum += math.Pow(x, a)
		}
	}
	switch {
	case a == 1 && c.Exponential:
		return (math.Exp(sum)*v - 1) / (v - 1)
	case a == 1:
		return 1 + sum/math.Log(v)
	case c.Exponential:
		e := math.Exp((math.Pow(v, 1-a) - sum) / (1 - a))
		most := math.Exp((math.Pow(v, 1-a) - 1) / (1 - a))
		return (e - 1) / (most - 1)
	}
	return (math.Pow(v, 1-a) - sum) / (math.Pow(v, 1-a) - 1)
}

func TestConfidenceOfFrames(t *testing.T) {
	inf := float32(math.Inf(-1))
	var even Frames
	even.Set(make([]float32, 30), 30)
	for _, c := range measures() {
		if got := c.Frame([]float32{inf, 0, inf}); got != 1 {
			t.Errorf("%+v: what is certain has %v", c, got)
		}
		if got := c.Frame(even.Row(0)); got > 1e-6 { // of float32
			t.Errorf("%+v: what is all the same has %v", c, got)
		}
		if got := c.Frame([]float32{0}); got != 1 {
			t.Errorf("%+v: the only token has %v", c, got)
		}
		for seed := range uint64(30) {
			f := random(rng(seed), 1, 2+int(seed), 3)
			p := make([]float64, f.V)
			for i, x := range f.Row(0) {
				p[i] = math.Exp(float64(x))
			}
			if got, want := c.Frame(f.Row(0)), c.reference(p); math.Abs(got-want) > 1e-6 { // rows add up to 1 in float32
				t.Errorf("%+v: %v, want %v", c, got, want)
			}
		}
		before := -1.0
		for logit := range 12 { // the surer, the more
			row := make([]float32, 40)
			row[7] = float32(logit)
			var f Frames
			f.Set(row, 40)
			got := c.Frame(f.Row(0))
			if got <= before {
				t.Errorf("%+v: a logit of %d has %v, one less %v", c, logit, got, before)
			}
			before = got
		}
	}
}

func TestConfidenceOfUnits(t *testing.T) {
	f := random(rng(8), 10, 6, 2)
	frames := make([]float64, 10)
	spans := []Span{{1, 3, 0}, {4, 5, 0}, {6, 9, 0}, {9, 30, 0}, {12, 14, 0}}
	units := []Unit{{From: 0, To: 2}, {From: 2, To: 3}, {From: 1, To: 3}}
	for _, c := range measures() {
		for i := range frames {
			frames[i] = c.Frame(f.Row(i))
		}
		join := func(x ...float64) float64 {
			least, sum, product := 1.0, 0.0, 1.0
			for _, v := range x {
				least, sum, product = min(least, v), sum+v, product*v
			}
			return map[Aggregate]float64{Least: least, Mean: sum / float64(len(x)), Product: product}[c.Aggregate]
		}
		want := []float64{join(frames[1:3]...), frames[4], join(frames[6:9]...), frames[9], 0}
		tokens := c.Tokens(nil, f, spans)
		testkit.Close(t, "tokens", tokens, want, 1e-15)
		testkit.Close(t, "units", c.Units([]float64{7}, tokens, units), []float64{7, join(want[:2]...), want[2], join(want[1:3]...)}, 1e-15)
	}
}

package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Quantiles are those that R and NumPy give by default, for 1 2 4 8 16.
func TestQuantile(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16}
	for p, want := range map[float64]float64{0: 1, 0.1: 1.4, 0.25: 2, 0.3: 2.4, 0.5: 4, 0.99: 15.68, 1: 16} {
		if got := quantile(x, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	if got := quantile([]float64{7}, 0.3); got != 7 {
		t.Errorf("of one value: %v", got)
	}
}

// A histogram counts every value once, where it belongs, in a bounded number of round steps.
func TestHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	for try := range 500 {
		x := make([]float64, 1+random.IntN(400))
		scale := math.Pow(10, float64(random.IntN(9)-4))
		for i := range x {
			x[i] = scale * (random.NormFloat64() + 3)
			if try%5 == 0 && random.IntN(30) == 0 {
				x[i] *= 1000
			}
			if try%7 == 0 {
				x[i] = math.Round(x[i])
			}
		}
		unit := 0.0
		if try%7 == 0 {
			unit = 1
		}
		d := distribution(x, unit)
		h := d.Histogram
		if len(h.Counts) > steps+2 || h.Step < unit || !(h.Step > 0) {
			t.Fatalf("%d steps of %v for %v to %v", len(h.Counts), h.Step, d.Min, d.Max)
		}
		want := make([]int, len(h.Counts))
		below, above := 0, 0
		for _, v := range x {
			switch i := int(math.Floor((v - h.From) / h.Step * (1 + 1e-15))); {
			case v < h.From:
				below++
			case i >= len(want):
				above++
			default:
				want[i]++
			}
		}
		apart := 0 // values on the edge of two steps may fall into either, by rounding
		for i := range want {
			apart += max(want[i]-h.Counts[i], h.Counts[i]-want[i])
		}
		total := h.Below + h.Above
		for _, n := range h.Counts {
			total += n
		}
		if total != len(x) || apart > 4 || h.Below+h.Above > len(x)/20+1 {
			t.Fatalf("%v; want %v, %d below and %d above, of %d", h, want, below, above, len(x))
		}
		if !slices.IsSorted(x) || d.Min != x[0] || d.Max != x[len(x)-1] || d.P1 > d.P5 || d.P95 > d.P99 || d.Median < d.P25 {
			t.Fatalf("%+v", d)
		}
	}
}

func TestRoundStep(t *testing.T) {
	for step, want := range map[float64]float64{0: 1, 1: 1, 1.1: 2, 3: 5, 6: 10, 0.03: 0.05, 0.011: 0.02, 2000: 2000, 0.5: 0.5} {
		if got := roundStep(step); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v becomes %v, want %v", step, got, want)
		}
	}
}

func TestNoValues(t *testing.T) {
	if d := distribution(nil, 0); d.Count != 0 || d.Histogram.Counts == nil {
		t.Errorf("%+v", d)
	}
}

package perturb

import (
	"math"
	"slices"
	"testing"

	"konkanitrain/internal/philox"
)

// A shift is uniform over its range.
func TestDrawShift(t *testing.T) {
	const draws = 4000
	sum, square := 0.0, 0.0
	for key := range uint64(draws) {
		s := float64(DrawShift(philox.NewStream(key, 1), 0.06))
		if !(s >= -0.06 && s <= 0.06) {
			t.Fatalf("%v s", s)
		}
		sum, square = sum+s, square+s*s
	}
	// Six deviations of the mean, and of the mean square, whose deviation is 0.0032 of the range's square.
	if mean, variance := sum/draws, square/draws; !(math.Abs(mean) <= 6*0.06/math.Sqrt(3*draws)) || !(math.Abs(variance-0.0012) <= 6e-5) {
		t.Errorf("mean %.4f and variance %.6f, want 0 and 0.0012", mean, variance)
	}
	if got := Shift(0.012).String() + ", " + Shift(-0.0404).String(); got != "12 ms later, 40 ms earlier" {
		t.Error(got)
	}
}

// What a shift moves is moved whole, by so many samples; silence is where nothing comes from; an utterance loses a
// tenth of itself at most.
func TestShift(t *testing.T) {
	for _, c := range []struct {
		n     int
		s     Shift
		moves int
	}{
		{1000, 0, 0}, {1000, 0.01, 80}, {1000, -0.01, -80}, {1000, 0.5, 100}, {1000, -0.5, -100}, {1000, 0.00005, 0}, {1000, 0.0001, 1},
		{9, 0.5, 1}, {4, -0.5, 0}, {1, 0.1, 0}, {0, 0.1, 0}, {0, -0.1, 0},
	} {
		x := make([]float32, c.n)
		for i := range x {
			x[i] = float32(i + 1)
		}
		want := make([]float32, c.n)
		for i := range want {
			if from := i - c.moves; from >= 0 && from < c.n {
				want[i] = x[from]
			}
		}
		if newChanger(8000).Shift(x, c.s); !slices.Equal(x, want) {
			t.Errorf("%d samples by %v s: %v, want %v", c.n, float64(c.s), x[:min(c.n, 200)], want[:min(c.n, 200)])
		}
	}
}

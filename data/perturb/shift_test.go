package perturb

import (
	"slices"
	"testing"

	"konkanitrain/internal/philox"
)

// A shift is uniform over its range.
func TestDrawShift(t *testing.T) {
	testUniform(t, 0.06, func(s *philox.Stream) float64 { return float64(DrawShift(s, 0.06)) })
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

package perturb

import (
	"math"
	"testing"

	"konkanitrain/internal/philox"
)

// testUniform tests that what is drawn is uniform from -most to most: never beyond, with a mean and a mean square
// within six of their deviations.
func testUniform(t *testing.T, most float64, draw func(*philox.Stream) float64) {
	t.Helper()
	const draws = 4000
	sum, square := 0.0, 0.0
	for key := range uint64(draws) {
		v := draw(philox.NewStream(key, 1))
		if !(v >= -most && v <= most) {
			t.Fatalf("%v is drawn, and %v is the most", v, most)
		}
		sum, square = sum+v, square+v*v
	}
	mean, variance := sum/draws, square/draws
	// The variance of the square of a uniform v is (1/5 - 1/9) most^4.
	if !(math.Abs(mean) <= 6*most/math.Sqrt(3*draws)) || !(math.Abs(variance-most*most/3) <= 6*most*most*math.Sqrt((1./5-1./9)/draws)) {
		t.Errorf("mean %.4g and variance %.4g, want 0 and %.4g", mean, variance, most*most/3)
	}
}

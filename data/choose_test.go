package data

import (
	"math"
	"slices"
	"testing"
)

// What is chosen is different numbers of those that there are, each as likely, by the seed.
func TestChoose(t *testing.T) {
	const draws = 3000
	for _, c := range []struct{ n, of, want int }{{0, 5, 0}, {3, 0, 0}, {1, 1, 1}, {3, 3, 3}, {9, 4, 4}, {3, 10, 3}, {6, 10, 6}, {3, 1_000_000, 3}} {
		counts := map[int]int{}
		for seed := range uint64(draws) {
			list := Choose(seed, c.n, c.of)
			if len(list) != c.want || !slices.Equal(list, Choose(seed, c.n, c.of)) {
				t.Fatalf("%d of %d: %v", c.n, c.of, list)
			}
			for k, i := range list {
				if counts[i]++; i < 0 || i >= c.of || slices.Contains(list[:k], i) {
					t.Fatalf("%d of %d: %v", c.n, c.of, list)
				}
			}
		}
		if c.of > 100 {
			continue
		}
		for i := range c.of {
			share := float64(c.want) / float64(c.of)
			if off := math.Abs(float64(counts[i]) - draws*share); off > 6*math.Sqrt(draws*share*(1-share)) { // six deviations
				t.Errorf("%d of %d: %d is among them %d times of %d", c.n, c.of, i, counts[i], draws)
			}
		}
	}
}

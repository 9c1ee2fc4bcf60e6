package arenapage

import (
	"slices"
	"testing"
)

// The holdings of a stretch add up to the most that is in use in it, so that the peak is seen however few there are.
func TestHoldings(t *testing.T) {
	for _, page := range []Page{small(), large(300)} {
		for _, p := range page.Programs {
			live := p.live()
			for _, most := range []int{1, 7, len(live), 10 * len(live)} {
				held := p.Holdings(most)
				n := min(most, len(live))
				for i := range n {
					var sum, want int64
					for _, h := range held {
						if len(h.Bytes) != n || kinds[h.Kind].name != h.Name {
							t.Fatalf("%s of kind %d has %d stretches, want %d", h.Name, h.Kind, len(h.Bytes), n)
						}
						sum += h.Bytes[i]
					}
					for _, bytes := range live[i*len(live)/n : (i+1)*len(live)/n] {
						want = max(want, bytes)
					}
					if sum != want {
						t.Errorf("%s: %d bytes in stretch %d of %d, want %d", p.Name, sum, i, n, want)
					}
				}
			}
		}
	}
	held := small().Programs[0].Holdings(1000)
	if len(held) == 0 || len(held) == len(kinds) {
		t.Errorf("%d kinds hold something", len(held))
	}
	for _, h := range held {
		if slices.Max(h.Bytes) == 0 {
			t.Errorf("%s holds nothing", h.Name)
		}
	}
}

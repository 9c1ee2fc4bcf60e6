package decode

import (
	"cmp"
	"slices"
	"testing"
)

// What is kept, and in which order, is what sorting everything gives, whatever comes first and however many are equal.
func TestTop(t *testing.T) {
	r := rng(6)
	for range 300 {
		h := top{limit: 1 + r.IntN(9)}
		var all []candidate
		for i := range r.IntN(60) {
			all = append(all, candidate{score: float64(r.IntN(5)), order: int64(i)})
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, c := range all {
			h.offer(c)
		}
		slices.SortFunc(all, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
		})
		if h.sort(); !slices.Equal(h.items, all[:min(len(all), h.limit)]) {
			t.Fatalf("%v of %v", h.items, all)
		}
	}
}

func TestChoices(t *testing.T) {
	r := rng(7)
	for range 300 {
		row := make([]float32, 1+r.IntN(40))
		var all []choice
		c, least := choices{limit: r.IntN(20)}, float64(r.IntN(3))-1
		for i := range row {
			row[i] = float32(r.IntN(6))
			if i != 2 && float64(row[i]) >= least {
				all = append(all, choice{float64(row[i]), int32(i)})
			}
		}
		slices.SortFunc(all, func(a, b choice) int { return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.id, b.id)) })
		c.set(row, least, 2)
		for range 50 { // in any order, and again
			rank := r.IntN(25)
			got, there := c.at(rank)
			if want := rank < min(len(all), c.limit); there != want || there && got != all[rank] {
				t.Fatalf("rank %d: %v, %v; of %v", rank, got, there, all)
			}
		}
	}
}

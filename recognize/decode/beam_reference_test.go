package decode

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// plainly is the prefix beam search as it is usually written down, with a table of labellings for each frame: Hannun et
// al. 2014, algorithm 1, without a language model.
func plainly(f Frames, width int) []Hypothesis {
	type mass struct{ pb, pn float64 }
	none := mass{math.Inf(-1), math.Inf(-1)}
	beam := map[string]mass{"": {0, math.Inf(-1)}}
	for t := range f.T() {
		next := map[string]mass{}
		add := func(key string, pb, pn float64) {
			m, there := next[key]
			if !there {
				m = none
			}
			next[key] = mass{logAdd(m.pb, pb), logAdd(m.pn, pn)}
		}
		for key, m := range beam {
			for id, x := range f.Row(t) {
				p := float64(x)
				last := key != "" && key[len(key)-1] == byte(id)
				switch {
				case id == 0:
					add(key, logAdd(m.pb, m.pn)+p, none.pn)
				case last:
					add(key, none.pb, m.pn+p)
					add(key+string(rune(id)), none.pb, m.pb+p)
				default:
					add(key+string(rune(id)), none.pb, logAdd(m.pb, m.pn)+p)
				}
			}
		}
		keys := []string{}
		for key, m := range next {
			if logAdd(m.pb, m.pn) > none.pb {
				keys = append(keys, key)
			}
		}
		slices.SortFunc(keys, func(a, b string) int {
			return cmp.Compare(logAdd(next[b].pb, next[b].pn), logAdd(next[a].pb, next[a].pn))
		})
		beam = map[string]mass{}
		for _, key := range keys[:min(width, len(keys))] {
			beam[key] = next[key]
		}
	}
	var all []Hypothesis
	for key, m := range beam {
		h := Hypothesis{CTC: logAdd(m.pb, m.pn)}
		for _, id := range []byte(key) {
			h.Tokens = append(h.Tokens, int32(id))
		}
		h.Score = h.CTC
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) })
	return all
}

// Whatever the beam, it holds what a search with tables holds: prefixes that leave it and come back among them.
func TestBeamIsTheUsualOne(t *testing.T) {
	for _, v := range []int{2, 3, 4, 7} {
		for _, width := range []int{1, 2, 3, 4, 5, 9, 20} {
			beam := mustBeam(t, letters(t, v), BeamOptions{Width: width})
			for seed := range uint64(12) {
				f := random(rng(seed), 25, v, 0.5+float64(seed)/4)
				got, want := beam.Decode(f, width), plainly(f, width)
				if len(got) != len(want) {
					t.Fatalf("%d tokens, width %d, seed %d: %d hypotheses, want %d", v, width, seed, len(got), len(want))
				}
				for i, w := range want {
					if g := got[i]; !slices.Equal(g.Tokens, w.Tokens) || !near(g.Score, w.Score) {
						t.Fatalf("%d tokens, width %d, seed %d: hypothesis %d is %+v, want %+v", v, width, seed, i, g, w)
					}
				}
			}
		}
	}
}

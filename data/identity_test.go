package data

import (
	"fmt"
	"slices"
	"testing"

	"konkanitrain/internal/philox"
)

// plainIdentities is newIdentities with maps of strings.
func plainIdentities(entries []entry) (ids []string, twice bool) {
	ids = make([]string, len(entries))
	taken, times := map[string]bool{}, map[string]int{}
	for i, e := range entries {
		if ids[i] = e.id; e.id != "" {
			twice = twice || taken[e.id]
			taken[e.id] = true
		}
	}
	for i, e := range entries {
		if e.id != "" || e.audio == "" {
			continue
		}
		base := e.audio
		if e.offset > 0 {
			base = fmt.Sprintf("%s@%v", e.audio, e.offset)
		}
		id := base
		for taken[id] {
			times[base]++
			id = fmt.Sprintf("%s#%d", base, times[base]+1)
		}
		ids[i], taken[id] = id, true
	}
	return ids, twice
}

// They are those of the plain definition, with ids that look like numbered paths and in any order.
func TestIdentitiesAreThePlainOnes(t *testing.T) {
	draw := philox.NewStream(5, 0)
	for range 300 {
		r := &rows{letters: new(letters)}
		var entries []entry
		for n := 1 + draw.IntN(60); len(entries) < n; {
			e := entry{file: "x", line: len(entries) + 1, text: "a"}
			if draw.IntN(8) > 0 {
				e.audio = []string{"a", "b", "a#2", "a@0.5", "a#2#2", "c"}[draw.IntN(6)]
			}
			if draw.IntN(3) == 0 {
				e.part, e.offset = true, float64(draw.IntN(3))/2
			}
			if draw.IntN(10) == 0 {
				e.id = fmt.Sprintf("a#%d", draw.IntN(40))
			}
			entries = append(entries, e)
			r.add(&e)
		}
		want, twice := plainIdentities(entries)
		_, err := newIdentities(r, "x", "")
		if (err != nil) != twice {
			t.Fatalf("%v, %v", twice, err)
		}
		if err != nil {
			continue
		}
		var got []string
		for i := range entries {
			got = append(got, r.id(i))
			if got[i] != "" && r.keys[i] != philox.ID(got[i]) {
				t.Fatalf("the key of %s", got[i])
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// atLeast is the number of changes that each package gets before any gets its share by lines.
const atLeast = 3

// order sorts changes so that the first n of them, for any n, are spread over packages in proportion to their lines,
// with at least atLeast each, and within a package evenly over kinds. Where a change stands depends on the seed
// and on names, not on line numbers, so most of an order survives an edit.
func order(all []change, lines map[string]int, seed uint64) []change {
	hash := func(parts ...string) uint64 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %q", seed, parts))
		return binary.BigEndian.Uint64(sum[:])
	}
	type place struct {
		change
		turn int     // among the changes of its package and kind
		key  float64 // how early it comes among all
		hash uint64
	}
	places := make([]place, len(all))
	for i, c := range all {
		places[i] = place{change: c, hash: hash(c.ID)}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.hash, b.hash) })

	turns := map[[2]string]int{}
	for i := range places {
		p := &places[i]
		group := [2]string{p.Package, p.Kind}
		p.turn = turns[group]
		turns[group]++
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.turn, b.turn),
			cmp.Compare(hash(a.Package, a.Kind), hash(b.Package, b.Kind)))
	})

	rank := map[string]int{}
	for i := range places {
		p := &places[i]
		rank[p.Package]++
		if p.key = float64(rank[p.Package]) / float64(lines[p.Package]); rank[p.Package] <= atLeast {
			p.key = 0
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.hash, b.hash))
	})
	sorted := make([]change, len(places))
	for i, p := range places {
		sorted[i] = p.change
	}
	return sorted
}

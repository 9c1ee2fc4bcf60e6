package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// many returns n changes of a package, of three kinds of very different frequency.
func many(pkg string, n int) []change {
	var all []change
	for i := range n {
		kind := statement
		if i%10 == 0 {
			kind = boundary
		} else if i%10 == 1 {
			kind = logic
		}
		all = append(all, change{Package: pkg, Kind: kind, ID: fmt.Sprint(pkg, i)})
	}
	return all
}

func TestOrderIsSpread(t *testing.T) {
	all := slices.Concat(many("large", 900), many("middle", 300), many("small", 9))
	got := order(all, map[string]int{"large": 3000, "middle": 1000, "small": 10}, 1)
	if len(got) != len(all) {
		t.Fatalf("%d of %d changes are left", len(got), len(all))
	}
	packages, kinds := map[string]int{}, map[string]int{}
	for _, c := range got[:123] {
		packages[c.Package]++
		if c.Package == "middle" {
			kinds[c.Kind]++
		}
	}
	// 3 of the small package, the rest 3 to 1; 30 of the middle package, which has 30 of each rare kind.
	if diff := cmp.Diff(map[string]int{"large": 90, "middle": 30, "small": 3}, packages); diff != "" {
		t.Errorf("changes by package (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{statement: 10, boundary: 10, logic: 10}, kinds); diff != "" {
		t.Errorf("changes by kind (-want +got):\n%s", diff)
	}
	if !slices.Equal(got, order(all, map[string]int{"large": 3000, "middle": 1000, "small": 10}, 1)) {
		t.Error("the same seed gives another order")
	}
}

// An edit that removes one change leaves nearly all of the others where they were.
func TestOrderSurvivesEdits(t *testing.T) {
	all, lines := many("p", 500), map[string]int{"p": 1000}
	before := order(all, lines, 1)[:100]
	all = slices.Delete(all, 250, 251)
	kept := 0
	for _, c := range order(all, lines, 1)[:100] {
		if slices.Contains(before, c) {
			kept++
		}
	}
	if kept < 99 {
		t.Errorf("%d of 100 changes are still chosen, want 99 or 100", kept)
	}
}

package op_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// misfit builds a case's op on inputs of its shapes, but that one of them has changed, and returns the graph's error.
func misfit(c optest.Case, changed int, change func(shape []int, ints bool) ([]int, bool)) error {
	g := op.NewGraph()
	var in []*G.Node
	for i, a := range c.In {
		shape, ints := slices.Clone([]int(a.Shape)), a.Ints != nil
		if i == changed {
			shape, ints = change(shape, ints)
		}
		add := g.Input
		if ints {
			add = g.IntInput
		}
		in = append(in, add(fmt.Sprint("in.", i), shape...))
	}
	c.Build(g, in)
	return g.Err()
}

// An op refuses each operand that is of another type than the others ask for, or of other dimensions.
func TestOperandsThatDontFit(t *testing.T) {
	// These work on elements, rows or frames of any shape, so that their first operand may have a dimension more.
	anyShape := []string{"relu", "swish", "linear", "dropout"}
	for _, c := range optest.Cases() {
		if c.Build == nil || c.In == nil || strings.HasPrefix(c.Name, "network") {
			continue
		}
		kind, _, _ := strings.Cut(c.Name, "/")
		for i := range c.In {
			if misfit(c, i, func(s []int, ints bool) ([]int, bool) { return s, !ints }) == nil {
				t.Errorf("%s: input %d may be of the other type", c.Name, i)
			}
			if i == 0 && (slices.Contains(anyShape, kind) || len(c.In) == 1) {
				continue
			}
			if misfit(c, i, func(s []int, ints bool) ([]int, bool) { return append(s, 1), ints }) == nil {
				t.Errorf("%s: input %d may have a dimension more", c.Name, i)
			}
		}
	}
}

package op_test

import (
	"math"
	"slices"
	"testing"

	"konkanitrain/op"
)

func TestRelativeTable(t *testing.T) {
	const longest, d = 9, 6
	all := op.RelativeTable(longest, d)
	if len(all) != (2*longest-1)*d {
		t.Fatalf("the table of distances has %d elements", len(all))
	}
	for s := 1; s <= longest; s++ { // values up to 1, rounded once: by up to 2^-25
		table := all[(longest-s)*d:][:(2*s-1)*d]
		for c := range 2*s - 1 {
			for m := range d / 2 {
				angle := float64(s-1-c) / math.Pow(10000, float64(2*m)/d)
				if got, want := table[c*d+2*m], math.Sin(angle); !(math.Abs(float64(got)-want) <= 3e-8) {
					t.Fatalf("distance %d, column %d is %g, want %g", s-1-c, 2*m, got, want)
				}
				if got, want := table[c*d+2*m+1], math.Cos(angle); !(math.Abs(float64(got)-want) <= 3e-8) {
					t.Fatalf("distance %d, column %d is %g, want %g", s-1-c, 2*m+1, got, want)
				}
			}
		}
	}
}

// A decoder's positions are counted from 0, and n of them are the first of more.
func TestSinusoid(t *testing.T) {
	const n, d = 7, 4
	table := op.Sinusoid(0, 1, n, d)
	for c := range n {
		for m := range d / 2 {
			angle := float64(c) / math.Pow(10000, float64(2*m)/d)
			for k, want := range []float64{math.Sin(angle), math.Cos(angle)} {
				if got := table[c*d+2*m+k]; !(math.Abs(float64(got)-want) <= 3e-8) { // rounded once
					t.Fatalf("position %d, column %d is %g, want %g", c, 2*m+k, got, want)
				}
			}
		}
	}
	if longer := op.Sinusoid(0, 1, 2*n, d); !slices.Equal(longer[:n*d], table) {
		t.Error("a longer table begins with other rows")
	}
}

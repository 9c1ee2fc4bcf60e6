package model

import (
	"slices"
	"sync"
	"testing"

	"konkanitrain/internal/testkit"
)

// One table, grown as needed, serves all lengths: each sees the middle of it.
func TestTables(t *testing.T) {
	const d = 6
	tables := NewTables(d)
	var before [][]float32
	for _, s := range []int{5, 1, 30, 7, 31, 200} {
		got := tables.Shared(Positions, []int{2*s - 1, d})
		testkit.Close(t, "positions", doubles(got), positions(s, d), 6e-8) // rounded to float32
		if s <= 30 {
			before = append(before, got)
		}
	}
	// What was handed out stays as it was, though the table has grown since.
	for i, s := range []int{5, 1, 30, 7} {
		testkit.Close(t, "positions kept", doubles(before[i]), positions(s, d), 6e-8)
	}
	// The decoder's are counted from 0, and the first rows serve shorter targets.
	for _, n := range []int{3, 1, 17, 16} {
		got := tables.Shared(DecoderPositions, []int{n, d})
		testkit.Close(t, "decoder's positions", doubles(got), sinusoids(0, n, 1, d), 6e-8)
	}
	for _, c := range []struct {
		name  string
		shape []int
	}{{"other", []int{9, d}}, {Positions, []int{8, d}}, {Positions, []int{9, d + 2}}, {Positions, []int{9}}, {DecoderPositions, []int{9, d + 2}}, {DecoderPositions, []int{0, d}}} {
		if tables.Shared(c.name, c.shape) != nil {
			t.Errorf("there is a table %s %v", c.name, c.shape)
		}
	}
}

// Several workers may ask at the same time.
func TestTablesFromSeveralGoroutines(t *testing.T) {
	tables := NewTables(4)
	var wg sync.WaitGroup
	for s := 1; s < 40; s++ {
		wg.Go(func() {
			got := slices.Clone(tables.Shared(Positions, []int{2*s - 1, 4}))
			if d := testkit.MaxAbs(doubles(got), positions(s, 4)); d > 6e-8 {
				t.Errorf("%d frames: off by %g", s, d)
			}
		})
	}
	wg.Wait()
}

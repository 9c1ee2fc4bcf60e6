package model

import (
	"slices"
	"sync"
	"testing"

	"konkanitrain/internal/testkit"
)

// One table of each kind, grown as needed, serves all lengths: each sees a part of it.
func TestTables(t *testing.T) {
	const d = 6
	tables := NewTables(d)
	check := func(name string, got []float32, want []float64) {
		t.Helper()
		testkit.Close(t, name, doubles(got), want, 6e-8) // rounded to float32
	}
	lengths := []int{5, 1, 30, 7, 31, 200}
	var relative, absolute [][]float32
	for _, n := range lengths {
		relative = append(relative, tables.Shared(Positions, []int{2*n - 1, d}))
		absolute = append(absolute, tables.Shared(DecoderPositions, []int{n, d}))
		check(Positions, relative[len(relative)-1], positions(n, d))
		check(DecoderPositions, absolute[len(absolute)-1], steps(n, d))
	}
	// What was handed out stays as it was, though the tables have grown since.
	for i, n := range lengths {
		check("positions kept", relative[i], positions(n, d))
		check("decoder's positions kept", absolute[i], steps(n, d))
	}
	for _, c := range []struct {
		name  string
		shape []int
	}{
		{"other", []int{9, d}}, {Positions, []int{8, d}}, {Positions, []int{9, d + 2}}, {Positions, []int{9}},
		{DecoderPositions, []int{0, d}}, {DecoderPositions, []int{8, d - 2}}, {DecoderPositions, []int{8, d, 1}},
	} {
		if tables.Shared(c.name, c.shape) != nil {
			t.Errorf("there is a table %s %v", c.name, c.shape)
		}
	}
}

// Bytes counts the tables that are in use, not those that they have replaced.
func TestTablesBytes(t *testing.T) {
	const d = 6
	tables := NewTables(d)
	for _, c := range []struct {
		name string
		rows int
		want int64 // elements in all
	}{
		{Positions, 9, 9 * d},
		{Positions, 5, 9 * d},
		{DecoderPositions, 4, 13 * d},
		{Positions, 11, 23 * d}, // 6 frames: the table grows from 5 to 10
		{DecoderPositions, 30, 49 * d},
		{DecoderPositions, 31, 79 * d},
		{DecoderPositions, 60, 79 * d},
	} {
		tables.Shared(c.name, []int{c.rows, d})
		if got := tables.Bytes(); got != 4*c.want {
			t.Errorf("after %d rows of %s: %d bytes, want %d", c.rows, c.name, got, 4*c.want)
		}
	}
	if n := NewTables(d).Bytes(); n != 0 {
		t.Errorf("%d bytes at the start", n)
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

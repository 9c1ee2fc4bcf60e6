package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One source with every kind of change, and what must be left alone.
const scanned = `package p

import "math"

const width, label = 8, "x"

type grid [4]int

func (g *grid) fill(n int, file string) (int, error) {
	x, err := open(file, 0o644)
	if err != nil {
		return 0, err
	}
	if n%2 == 0 {
		return 1, nil
	}
	for i := 0; i < n; i++ {
		if ok(i) || i > 9 {
			continue
		}
		n += 3
		x.add(math.Max(0.5, f), "a"+file)
	}
	file += ".go"
	both(
		n,
		file,
	)
	defer x.close()
	list := make([]int, 0, 16)
	return min(n, 0x0f), nil
}

func last(done bool) {
	switch {
	case done:
		return
	}
	x := 1 +
		2
}
`

// The changes of scanned: line, function, kind, text.
const scannedChanges = `
5 width constant: width, label = 8, "x" -> width, label = 9, "x"
11 grid.fill error check: never err != nil
11 grid.fill equality: err != nil -> err == nil
12 grid.fill constant: return 0, err -> return 1, err
14 grid.fill early exit: never n%2 == 0
14 grid.fill equality: n%2 == 0 -> n%2 != 0
14 grid.fill constant: n%2 -> n%3
14 grid.fill constant: n%2 == 0 -> n%2 == 1
15 grid.fill constant: return 1, nil -> return 2, nil
17 grid.fill constant: i := 0 -> i := 1
17 grid.fill boundary: i < n -> i <= n
21 grid.fill statement: drop n += 3
22 grid.fill statement: drop x.add(math.Max(0.5, f), "a"+file)
18 grid.fill condition: negate ok(i) || i > 9
18 grid.fill logic: ok(i) || i > 9 -> ok(i) && i > 9
18 grid.fill boundary: i > 9 -> i >= 9
18 grid.fill constant: i > 9 -> i > 10
19 grid.fill early exit: drop continue
21 grid.fill arithmetic: n += 3 -> n -= 3
21 grid.fill constant: n += 3 -> n += 4
22 grid.fill min/max: math.Max(0.5, f) -> math.Min(0.5, f)
24 grid.fill statement: drop file += ".go"
30 grid.fill constant: make([]int, 0, 16) -> make([]int, 1, 16)
31 grid.fill min/max: min(n, 0x0f) -> max(n, 0x0f)
31 grid.fill constant: min(n, 0x0f) -> min(n, 16)
37 last early exit: drop return
39 last arithmetic: x := 1 + -> x := 1 -
39 last constant: x := 1 + -> x := 2 +
40 last constant: 2 -> 3
`

func scan(t *testing.T, src string) []change {
	t.Helper()
	found, err := fileChanges("tiny/p", "p/p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFileChanges(t *testing.T) {
	var got strings.Builder
	got.WriteString("\n")
	for _, c := range scan(t, scanned) {
		fmt.Fprintf(&got, "%d %s %s: %s\n", c.Line, c.Function, c.Kind, c.Text)
	}
	want := strings.Split(scannedChanges, "\n")
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(strings.SplitSeq(got.String(), "\n"))); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// What a change's text says is what its new line holds, and everything else of the file stays.
func TestApply(t *testing.T) {
	for _, c := range scan(t, scanned) {
		src, err := c.apply([]byte(scanned))
		if err != nil {
			t.Fatal(err)
		}
		if !parses(src) {
			t.Errorf("%s: line %q is no Go", c.ID, c.New)
		}
		before, after := strings.Split(scanned, "\n"), strings.Split(string(src), "\n")
		if len(before) != len(after) || before[c.Line-1] == after[c.Line-1] {
			t.Errorf("%s: %q became %q", c.ID, before[c.Line-1], after[c.Line-1])
		}
		if _, new, ok := strings.Cut(c.Text, " -> "); ok && !strings.Contains(c.New, new) {
			t.Errorf("%s: no %q in line %q", c.ID, new, c.New)
		}
		after[c.Line-1] = before[c.Line-1]
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: other lines changed:\n%s", c.ID, diff)
		}
		if _, err := c.apply([]byte("\n" + scanned)); err == nil || !strings.Contains(err.Error(), "p/p.go was edited") {
			t.Errorf("%s: error %v for a file that was edited since", c.ID, err)
		}
	}
}

// An ID names one change of a file, and lines that move leave it alone.
func TestIDs(t *testing.T) {
	const src = `package p

func f() error {
	if err := a(); err != nil {
		return err
	}

	err := b()
	if err != nil {
		return err
	}
	err = c()
	if err != nil {
		return err
	}
	err = c()
	if err != nil {
		return err
	}
	return nil
}
`
	want := []string{
		"p/p.go f: never err != nil  below: func f() error {",
		"p/p.go f: never err != nil  below: err := b()",
		"p/p.go f: never err != nil  below: err = c()  #1",
		"p/p.go f: never err != nil  below: err = c()  #2",
	}
	for _, text := range []string{src, strings.Replace(src, "func f", "// f\n\nvar x T\n\nfunc f", 1)} {
		var got []string
		for _, c := range scan(t, text) {
			if c.Kind == errorCheck {
				got = append(got, c.ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("IDs (-want +got):\n%s", diff)
		}
	}
	seen := map[string]bool{}
	for _, c := range scan(t, scanned) {
		if seen[c.ID] {
			t.Errorf("two changes are called %s", c.ID)
		}
		seen[c.ID] = true
	}
}

func TestProduction(t *testing.T) {
	for file, want := range map[string]bool{
		"train/deal.go":                  true,
		"internal/simd/gemm.go":          true,
		"internal/simd/kernels_gemm.go":  false,
		"internal/simd/gen/main.go":      false,
		"internal/simd/generic/main.go":  true,
		"bench/step/main.go":             false,
		"data/testdata/x.go":             false,
		"testdata/x.go":                  false,
		"internal/testkit/compare.go":    false,
		"cmd/konkanitrain/benchmarks.go": true,
	} {
		if got := production(file); got != want {
			t.Errorf("production(%s) = %v", file, got)
		}
	}
}

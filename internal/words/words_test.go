package words

import (
	"slices"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 workers", 0: "0 workers", 1: "1 worker", 2: "2 workers", 100: "100 workers"} {
		if got := Count(n, "worker"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestList(t *testing.T) {
	abcde := []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct {
		items []string
		most  int
		want  string
	}{
		{nil, 3, ""},
		{nil, 0, ""},
		{abcde[:1], 3, "a"},
		{abcde[:3], 3, "a, b, c"},
		{abcde[:4], 3, "a, b, c and 1 more"},
		{abcde, 2, "a, b and 3 more"},
		{abcde, 0, "5 more"},
		{abcde, -1, "5 more"},
	} {
		if got := List(c.items, c.most); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.most, c.items, got, c.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 44_300_000: "44.3 MB",
		999_949_999: "999.9 MB", 999_950_000: "1.0 GB", 25_276_059_648: "25.3 GB", 1 << 62: "4611686018.4 GB", -5: "-5 bytes",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for s, want := range map[float64]string{0: "0.0 s", 119.9: "119.9 s", 120: "2.0 min", 7199: "120.0 min", 7200: "2.00 h", 74577.6: "20.72 h"} {
		if got := Duration(s); got != want {
			t.Errorf("%v s: %s, want %s", s, got, want)
		}
	}
}

// Lines are as full as they can be, by columns and not by letters: a mark has none, and a wide letter two.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 5, []string{""}},
		{" \n", 5, []string{""}},
		{"one two  three\nfour", 7, []string{"one two", "three", "four"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 12, []string{"one two", "three"}},
		{"at extraordinary ends", 5, []string{"at", "extraordinary", "ends"}},
		{"कि कि कि", 5, []string{"कि कि", "कि"}},
		{"音 音", 4, []string{"音", "音"}},
		{"10\u00a0% of it", 3, []string{"10\u00a0%", "of", "it"}},
		{"\u200d abc", 5, []string{"\u200d abc"}}, // a word without a width is one
	} {
		if got := Wrap(c.text, c.columns); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) is %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

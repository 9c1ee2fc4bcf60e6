package decode

import (
	"math"
	"testing"
)

// Words and characters of all kinds of tokens, by hand. A frame has 0.04 s.
func TestTimes(t *testing.T) {
	v := vocabulary(t, "", " ", "a", "b", "▁ab", "abc", "▁", "\xe0", "\xa4", "\x97", "c▁", "x y", "गो")
	for name, c := range map[string]struct {
		tokens       []int32
		spans        []Span
		words, chars []Unit
	}{
		"nothing": {},
		"characters": {
			[]int32{1, 2, 3, 1, 1, 2, 1}, []Span{{0, 1, 0}, {2, 3, 0}, {3, 5, 0}, {5, 6, 0}, {6, 7, 0}, {8, 9, 0}, {9, 10, 0}},
			[]Unit{{"ab", 1, 3, 0.08, 0.2}, {"a", 5, 6, 0.32, 0.36}},
			[]Unit{{"a", 1, 2, 0.08, 0.12}, {"b", 2, 3, 0.12, 0.2}, {"a", 5, 6, 0.32, 0.36}},
		},
		"pieces": {
			[]int32{4, 5, 4, 6, 2}, []Span{{1, 3, 0}, {5, 8, 0}, {10, 11, 0}, {12, 13, 0}, {14, 16, 0}},
			[]Unit{{"ababc", 0, 2, 0.04, 0.32}, {"ab", 2, 3, 0.4, 0.44}, {"a", 4, 5, 0.56, 0.64}},
			[]Unit{
				{"a", 0, 1, 0.04, 0.08}, {"b", 0, 1, 0.08, 0.12}, {"a", 1, 2, 0.2, 0.24}, {"b", 1, 2, 0.24, 0.28}, {"c", 1, 2, 0.28, 0.32},
				{"a", 2, 3, 0.4, 0.42}, {"b", 2, 3, 0.42, 0.44}, {"a", 4, 5, 0.56, 0.64},
			},
		},
		"bytes": {
			[]int32{7, 8, 9, 3}, []Span{{0, 1, 0}, {1, 2, 0}, {4, 6, 0}, {6, 7, 0}},
			[]Unit{{"गb", 0, 4, 0, 0.28}}, []Unit{{"ग", 0, 3, 0, 0.24}, {"b", 3, 4, 0.24, 0.28}},
		},
		"spaces behind and within": {
			[]int32{10, 2, 11, 12}, []Span{{0, 2, 0}, {2, 3, 0}, {4, 6, 0}, {6, 8, 0}},
			[]Unit{{"c", 0, 1, 0, 0.08}, {"ax", 1, 3, 0.08, 0.2}, {"yगो", 2, 4, 0.2, 0.32}},
			[]Unit{{"c", 0, 1, 0, 0.08}, {"a", 1, 2, 0.08, 0.12}, {"x", 2, 3, 0.16, 0.2}, {"y", 2, 3, 0.2, 0.24}, {"ग", 3, 4, 0.24, 0.28}, {"ो", 3, 4, 0.28, 0.32}},
		},
		"damaged bytes":   {[]int32{7, 7, 2}, []Span{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}}, []Unit{{"\xe0\xe0a", 0, 3, 0, 0.12}}, []Unit{{"\xe0", 0, 1, 0, 0.04}, {"\xe0", 1, 2, 0.04, 0.08}, {"a", 2, 3, 0.08, 0.12}}},
		"ids of no token": {[]int32{99, -1, 0, 2}, []Span{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 4, 0}}, []Unit{{"a", 3, 4, 0.12, 0.16}}, []Unit{{"a", 3, 4, 0.12, 0.16}}},
		"spans missing":   {[]int32{2, 3}, []Span{{0, 1, 0}}, []Unit{{"a", 0, 1, 0, 0.04}}, []Unit{{"a", 0, 1, 0, 0.04}}},
	} {
		words, chars := Units(v.Texts(c.tokens), c.spans, 0.04)
		compareUnits(t, name+", words", words, c.words)
		compareUnits(t, name+", characters", chars, c.chars)
	}
}

func compareUnits(t *testing.T, name string, got, want []Unit) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		g, w := got[i], want[i]
		ok = g.Text == w.Text && g.From == w.From && g.To == w.To && math.Abs(g.Start-w.Start) < 1e-12 && math.Abs(g.End-w.End) < 1e-12
	}
	if !ok {
		t.Errorf("%s:\n%+v, want\n%+v", name, got, want)
	}
}

// The words are those of the text, and the times go forward and stay within the frames.
func TestTimesOfHypotheses(t *testing.T) {
	for name, c := range vocabularies {
		v := vocabulary(t, c.texts...)
		beam, a := mustBeam(t, v, BeamOptions{Width: 8}), NewAligner(0)
		for seed := range uint64(10) {
			f := peaky(rng(seed), 80, v.Size())
			for _, h := range beam.Decode(f, 8) {
				al, err := a.Align(f, h.Tokens)
				if err != nil {
					t.Fatal(err)
				}
				_, want := written(v, h.Tokens)
				words, _ := Units(v.Texts(h.Tokens), al.Spans, 0.5)
				before := 0.0
				for i, w := range words {
					if len(words) != len(want) || w.Text != want[i] || w.Start < before || w.End <= w.Start || w.End > 40 {
						t.Fatalf("%s: %+v, want %q", name, words, want)
					}
					before = w.End
				}
			}
		}
	}
}

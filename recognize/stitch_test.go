package recognize

import (
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/recognize/transcript"
)

// Pieces that overlap are joined so that each character is there once: at a place where both agree, between words if
// that can be.
func TestStitch(t *testing.T) {
	// spell is a segment with a character each 0.1 s from start on; a space takes as long.
	spell := func(start float64, text string) transcript.Segment {
		var s transcript.Segment
		at := start
		for _, c := range text {
			u := transcript.Unit{Text: string(c), Start: at, End: at + 0.06, Confidence: 0.5}
			if at += 0.1; c == ' ' {
				continue
			}
			s.Characters = append(s.Characters, u)
			if n := len(s.Words); n > 0 && u.Start-s.Words[n-1].End < 0.1 {
				s.Words[n-1].Text, s.Words[n-1].End = s.Words[n-1].Text+u.Text, u.End
			} else {
				s.Words = append(s.Words, u)
			}
		}
		s.Start, s.End, s.Text = start, at, sentence(s.Words)
		return s
	}
	for _, c := range []struct {
		name, a, b string
		start      float64 // of b
		want       string
	}{
		{"both right", "one two three four", "two three four five six", 0.4, "one two three four five six"},
		{"wrong at the edges", "one two three foxr", "xwo three four five six", 0.4, "one two three four five six"},
		{"cut off at the edges", "one two three fou", "o three four five six", 0.6, "one two three four five six"},
		{"nothing alike", "aaa bbb ccc ddd", "xxx yyy zzz www", 0.8, ""},
		{"one says nothing", "aaa bbb", "", 0.3, "aaa bbb"},
		{"the other says nothing", "", "aaa bbb", 0.3, ""},
		{"one long word", "abcdefghijklmnop", "ijklmnopqrst", 0.8, "abcdefghijklmnopqrst"},
	} {
		a, b := spell(0, c.a), spell(c.start, c.b)
		left, right := stitch(a, b, c.start, max(a.End, c.start+0.5))
		got := joined(left, right)
		if c.want == "" {
			if n := len(got.Characters); n < 3 || n > 18 {
				t.Errorf("%s: %q", c.name, got.Text)
			}
		} else if got.Text != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Text, c.want)
		}
		if !slices.IsSortedFunc(got.Characters, func(a, b transcript.Unit) int { return int(1000*a.Start) - int(1000*b.Start) }) {
			t.Errorf("%s: %+v", c.name, got.Characters)
		}
		if left.End != right.Start {
			t.Errorf("%s: %g and %g", c.name, left.End, right.Start)
		}
	}
}

// Whatever two pieces have, what is joined has the characters of one before a place and those of the other behind.
func TestStitchIsAPrefixAndASuffix(t *testing.T) {
	r := testkit.Rand(3)
	piece := func(from, to float64) (s transcript.Segment) {
		s.Start, s.End = from, to
		for at := from; at < to-0.1; {
			at += 0.02 + 0.2*r.Float64()
			u := transcript.Unit{Text: string(letters[r.IntN(3)]), Start: at, End: at + 0.02}
			at = u.End
			s.Characters = append(s.Characters, u)
			if n := len(s.Words); n > 0 && r.IntN(3) > 0 {
				s.Words[n-1].Text, s.Words[n-1].End = s.Words[n-1].Text+u.Text, u.End
			} else {
				s.Words = append(s.Words, u)
			}
		}
		s.Text = sentence(s.Words)
		return s
	}
	for range 300 {
		to := 1 + 3*r.Float64()
		from := to * r.Float64()
		a, b := piece(0, to), piece(from, to+2)
		left, right := stitch(a, b, from, to)
		n, k := len(left.Characters), len(right.Characters)
		all := joined(left, right).Characters
		ok := false
		for i := range len(all) + 1 {
			ok = ok || i <= len(a.Characters) && len(all)-i <= len(b.Characters) &&
				slices.Equal(all[:i], a.Characters[:i]) && slices.Equal(all[i:], b.Characters[len(b.Characters)-(len(all)-i):])
		}
		text := ""
		for _, c := range all {
			text += c.Text
		}
		if !ok || strings.ReplaceAll(left.Text+right.Text, " ", "") != text {
			t.Fatalf("%d and %d characters: %q %q of %q and %q", n, k, left.Text, right.Text, a.Text, b.Text)
		}
	}
}

// Letters keep their signs where pieces are joined: of two well-written pieces, however different, none comes that has
// a word which begins with a vowel sign or ends in a virama, or a letter with two vowel signs.
func TestStitchKeepsSigns(t *testing.T) {
	r := testkit.Rand(4)
	oneOf := func(list ...string) string { return list[r.IntN(len(list))] }
	piece := func(from, to float64) (s transcript.Segment) {
		s.Start, s.End = from, to
		for at := from; at < to-0.4; {
			syllable := oneOf("क", "त", "म")
			if r.IntN(3) == 0 {
				syllable += "्" + oneOf("र", "य")
			}
			syllable += oneOf("", "ा", "ि", "ो")
			begins := len(s.Words) == 0 || r.IntN(12) == 0
			if begins {
				s.Words = append(s.Words, transcript.Unit{Start: at})
			}
			w := &s.Words[len(s.Words)-1]
			for _, c := range syllable {
				s.Characters = append(s.Characters, transcript.Unit{Text: string(c), Start: at, End: at + 0.02})
				w.Text, w.End = w.Text+string(c), at+0.02
				at += 0.02 + 0.08*r.Float64()
			}
		}
		s.Text = sentence(s.Words)
		return s
	}
	for trial := range 500 {
		to := 2 + 2*r.Float64()
		from := to - 0.5
		a, b := piece(0, to), piece(from, to+2)
		left, right := stitch(a, b, from, to)
		for word := range strings.FieldsSeq(left.Text + " " + right.Text) {
			before := ' '
			for _, c := range word {
				sign := strings.ContainsRune("ािो", c)
				if (sign || c == '्') && (before == ' ' || before == '्' || strings.ContainsRune("ािो", before)) {
					t.Fatalf("%d: %q: %q %q of %q and %q", trial, word, left.Text, right.Text, a.Text, b.Text)
				}
				before = c
			}
			if before == '्' {
				t.Fatalf("%d: %q: %q %q of %q and %q", trial, word, left.Text, right.Text, a.Text, b.Text)
			}
		}
	}
}

// What is given of two pieces that disagree where they overlap doesn't go back in time: words and characters have the
// times of their segment.
func TestGivenTimesAreTheSegments(t *testing.T) {
	out := &gathering{paths: []string{"a"}, emit: func(Transcript) error { return nil }}
	x := &transcribing{out: out, units: true}
	unit := func(start, end float64) transcript.Unit { return transcript.Unit{Text: "a", Start: start, End: end} }
	s := transcript.Segment{Start: 2, End: 3, Text: "a a a", Words: []transcript.Unit{unit(1.7, 1.9), unit(1.95, 2.2), unit(2.8, 3.4)}}
	s.Characters = slices.Clone(s.Words)
	before := slices.Clone(s.Words)
	if err := x.give(s); err != nil {
		t.Fatal(err)
	}
	want := []transcript.Unit{unit(2, 2), unit(2, 2.2), unit(2.8, 3)}
	got := out.now.Segments[0]
	if !slices.Equal(got.Words, want) || !slices.Equal(got.Characters, want) {
		t.Errorf("%+v, want words and characters at %+v", got, want)
	}
	if !slices.Equal(s.Words, before) {
		t.Error("the segment that is stitched has other times")
	}
}

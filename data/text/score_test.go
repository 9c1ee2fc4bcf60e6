package text

import (
	"encoding/json"
	"strings"
	"testing"
)

// table is the plain definition: the whole matrix, no shortcuts.
func table[T comparable](ref, hyp []T) int {
	d := make([][]int, len(ref)+1)
	for i := range d {
		d[i] = make([]int, len(hyp)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := range ref {
		for j := range hyp {
			cost := 1
			if ref[i] == hyp[j] {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j]+cost, d[i][j+1]+1, d[i+1][j]+1)
		}
	}
	return d[len(ref)][len(hyp)]
}

func TestAlign(t *testing.T) {
	for _, c := range []struct {
		ref, hyp string
		want     Counts
	}{
		{"", "", Counts{}},
		{"abc", "abc", Counts{Ref: 3}},
		{"abc", "", Counts{Del: 3, Ref: 3}},
		{"", "abc", Counts{Ins: 3}},
		{"abc", "axc", Counts{Sub: 1, Ref: 3}},
		{"abc", "ac", Counts{Del: 1, Ref: 3}},
		{"ac", "abc", Counts{Ins: 1, Ref: 2}},
		{"kitten", "sitting", Counts{Sub: 2, Ins: 1, Ref: 6}},
		{"abcdef", "xabdxf", Counts{Ins: 1, Del: 1, Sub: 1, Ref: 6}},
		{"ab", "ba", Counts{Sub: 2, Ref: 2}},
		{"प्राचीन", "प्राचिन", Counts{Sub: 1, Ref: 7}},
	} {
		r, h := []rune(c.ref), []rune(c.hyp)
		if got := Align(r, h); got != c.want {
			t.Errorf("%q, %q: %+v, want %+v", c.ref, c.hyp, got, c.want)
		}
	}
}

func TestScore(t *testing.T) {
	var s Score
	for range 10 {
		s.Add("हांव घरा", "")
	}
	if s.Words.Errors() != 20 || s.Words.Ref != 20 || s.WER() != 1 || s.CER() != 1 || s.EmptyHyps != 10 {
		t.Errorf("ten empty hypotheses: %v", &s)
	}
	s = Score{}
	// Sums over sums: 1 of 1 and 0 of 9 is 10 %, not 50 %.
	s.Add("a", "b")
	s.Add("a b c d e f g h i", "a b c d e f g h i")
	if s.WER() != 0.1 || s.Exact != 1 {
		t.Errorf("a short and a long pair: %v", &s)
	}
	// A word inside one pair means nothing to the next pair.
	s.Add("i a", "a i")
	if s.Words.Sub != 3 {
		t.Errorf("%v", &s)
	}
	var half, other Score
	half.Add("x y", "x")
	other.Add("x", "x y")
	half.Merge(&other)
	if half.Words != (Counts{Del: 1, Ins: 1, Ref: 3}) || half.Utterances != 2 {
		t.Errorf("merged: %v", &half)
	}
	// Nothing said, nothing heard: no error; nothing said, two words heard: two errors, a finite rate.
	s = Score{}
	if s.Add("", ""); s.WER() != 0 {
		t.Errorf("empty against empty: %v", &s)
	}
	if s.Add("", "a b"); s.WER() != 2 || s.Words.Ins != 2 {
		t.Errorf("insertions only: %v", &s)
	}
	if want := "2 utterances, WER 200.00 % (2/0: 0 sub, 0 del, 2 ins), CER 300.00 % (3/0: 0 sub, 0 del, 3 ins)"; s.String() != want {
		t.Errorf("%q", s.String())
	}
}

// Marks are letters: words and characters of Devanagari texts, and no error of a text against itself.
func TestMarksAreLetters(t *testing.T) {
	for _, c := range []struct {
		text         string
		chars, words int
	}{{"प्राचीन", 7, 1}, {"कु", 2, 1}, {"बीं", 3, 1}, {"ाककी पररा", 9, 2}, {"ं तें", 5, 2}, {"हांव घरा वता", 12, 3}} {
		var s Score
		s.Add(c.text, c.text)
		if s.Words != (Counts{Ref: c.words}) || s.Chars != (Counts{Ref: c.chars}) {
			t.Errorf("%q: %v", c.text, &s)
		}
	}
}

// Folding digits is explicit: word errors with digits as written, and folded.
func TestDigitsAndWordErrors(t *testing.T) {
	for _, c := range []struct {
		ref, hyp     string
		kept, folded int
	}{{"२०१७ वर्स", "2017 वर्स", 1, 0}, {"2017 वर्स", "2017 वर्स", 0, 0}, {"नंबर १/२", "नंबर 1/3", 1, 1}} {
		for fold, want := range map[bool]int{false: c.kept, true: c.folded} {
			p := Policy{FoldDigits: fold}
			var s Score
			s.Add(p.Normalize(c.ref), p.Normalize(c.hyp))
			if s.Words.Errors() != want || s.Words.Ref != 2 {
				t.Errorf("%q, %q, folded %v: %v; want %d of 2", c.ref, c.hyp, fold, s.Words, want)
			}
		}
	}
}

func FuzzAlign(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add("हांव घरा वता", "हांव घर")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, ref, hyp string) {
		if len(ref) > 300 || len(hyp) > 300 {
			return
		}
		r, h := []rune(ref), []rune(hyp)
		want := table(r, h)
		c := Align(r, h)
		if c.Errors() != want {
			t.Fatalf("%q, %q: %+v; the whole table says %d", ref, hyp, c, want)
		}
		// Tokens balance: what is left of the reference plus insertions is the hypothesis.
		if c.Ref != len(r) || len(r)-c.Del+c.Ins != len(h) || min(c.Sub, c.Del, c.Ins) < 0 {
			t.Fatalf("%q, %q: %+v does not add up", ref, hyp, c)
		}
		var s Score
		s.Add(ref, hyp)
		if n := table(strings.Fields(ref), strings.Fields(hyp)); s.Words.Errors() != n || s.Chars.Errors() != want {
			t.Fatalf("%q, %q: %v; the table says %d words", ref, hyp, &s, n)
		}
	})
}

func BenchmarkScore(b *testing.B) {
	ref := strings.Repeat("हांव घरा वता ", 8)
	hyp := strings.Repeat("हांव घर वत्ता ", 8)
	for b.Loop() {
		var s Score
		s.Add(ref, hyp)
	}
}

// Without punctuation there is one score; from the first reference with any on there are two, in whatever order
// pairs come.
func TestScoreWithoutPunctuation(t *testing.T) {
	pairs := [][2]string{{"a b", "a c"}, {"हांव घरा वता.", "हांव घरा वता"}, {"don't", "don't, x"}, {"a b", "a b"}}
	var s, merged Score
	for i, p := range pairs {
		s.Add(p[0], p[1])
		if (s.Plain != nil) != (i > 0) {
			t.Fatalf("after %d pairs: %v", i+1, s.Plain)
		}
		var one Score
		one.Add(pairs[len(pairs)-1-i][0], pairs[len(pairs)-1-i][1])
		merged.Merge(&one)
	}
	want := PlainScore{Counts{Sub: 1, Ins: 1, Ref: 8}, Counts{Sub: 1, Ins: 2, Ref: 23}}
	if s.Words != (Counts{Sub: 3, Ins: 1, Ref: 8}) || *s.Plain != want || *merged.Plain != want || merged.Words != s.Words {
		t.Errorf("%v, %v; merged %v, %v", &s, s.Plain, &merged, merged.Plain)
	}
	if got := s.Plain.String(); got != "WER 25.00 % (2/8: 1 sub, 0 del, 1 ins), CER 13.04 % (3/23: 1 sub, 0 del, 2 ins)" {
		t.Error(got)
	}
	var none Score
	none.Merge(&Score{})
	if b, err := json.Marshal(&none); err != nil || strings.Contains(string(b), "punctuation") {
		t.Errorf("%s, %v", b, err)
	}
}

// U+FFFD, which is written for what a model has no token for, is a letter of its word, and no reason for a second
// score; neither is a mark that a hypothesis alone has, which is left out of the second score if there is one.
func TestUnknownIsNoPunctuation(t *testing.T) {
	if got := plain.Normalize("a\ufffdb, c\ufffd"); got != "a\ufffdb c\ufffd" {
		t.Errorf("%q", got)
	}
	var s Score
	s.Add("वाट आसा", "वा\ufffd आसा")
	s.Add("a b", "a. b")
	if s.Plain != nil {
		t.Fatalf("a second score, %v, without punctuation in a reference", s.Plain)
	}
	if b, err := json.Marshal(&s); err != nil || strings.Contains(string(b), "punctuation") {
		t.Errorf("%s, %v", b, err)
	}
	s.Add("a!", "a")
	want := PlainScore{Counts{Sub: 1, Ref: 5}, Counts{Sub: 1, Ref: 11}}
	if s.Plain == nil || *s.Plain != want {
		t.Errorf("%v, want %v", s.Plain, want)
	}
	var sum Score
	for _, p := range [][2]string{{"a!", "a"}, {"a b", "a. b"}, {"वाट आसा", "वा\ufffd आसा"}} {
		var one Score
		one.Add(p[0], p[1])
		sum.Merge(&one)
	}
	if sum.Plain == nil || *sum.Plain != want {
		t.Errorf("merged: %v, want %v", sum.Plain, want)
	}
}

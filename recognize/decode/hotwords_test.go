package decode

import (
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// Letter by letter, what phrases have that are complete is what a search through the text finds; what is begun is what
// the best phrase has of which the text's end is a begin; and no byte adds more than the bound.
func TestHotwordsAgainstSearch(t *testing.T) {
	v := vocabulary(t, "", "a", "b", " ", "ग", "ो")
	list := []Hotword{
		{Phrase: "a", Boost: 1}, {Phrase: "ab", Boost: 0.5}, {Phrase: "ab a", Boost: 2}, {Phrase: "a b ab", Boost: 0.25}, {Phrase: "गो", Boost: 3},
		{Phrase: "bb", Boost: 1.5, AnyEnding: true}, {Phrase: "bba", Boost: 0.125}, {Phrase: "गोग a", Boost: 0.75, AnyEnding: true},
	}
	h, err := NewHotwords(v, list)
	if err != nil {
		t.Fatal(err)
	}
	letters := []string{"a", "b", " ", "a", "b", " ", "ग", "ो"}
	r := rng(3)
	complete := 0.0
	for range 3000 {
		at, done, text := h.start, 0.0, " "
		for range 14 {
			s := letters[r.IntN(len(letters))]
			before := done + h.begun(at)
			at, done = h.write(at, done, text[len(text)-1] != ' ', s)
			if s != " " || text[len(text)-1] != ' ' {
				text += s
			}
			want, begun := 0.0, 0.0
			for _, w := range list {
				phrase := " " + w.Phrase + " "
				if w.AnyEnding {
					phrase = " " + w.Phrase
				}
				full := w.Boost * float64(len([]rune(w.Phrase)))
				want += full * float64(overlapping(text, phrase))
				for n := len(phrase) - 1; n > 0; n-- {
					if strings.HasSuffix(text, phrase[:n]) {
						begun = max(begun, w.Boost*float64(len([]rune(strings.ToValidUTF8(phrase[1:n], "")))))
						break
					}
				}
			}
			if !near(done, want) || !near(h.begun(at), begun) {
				t.Fatalf("%q: %v complete and %v begun, want %v and %v", text, done, h.begun(at), want, begun)
			}
			if gain := done + h.begun(at) - before; gain > h.mostGain(len(s))+roundoff {
				t.Fatalf("%q gains %v, the bound is %v", text, gain, h.mostGain(len(s)))
			}
			complete += want
		}
	}
	if complete == 0 {
		t.Error("no phrase was ever complete")
	}
}

func overlapping(text, phrase string) (n int) {
	for i := range text {
		if strings.HasPrefix(text[i:], phrase) {
			n++
		}
	}
	return n
}

// A boost brings a phrase out that the network hears nearly as well, and is taken back from what only begins like it.
func TestHotwordsInABeam(t *testing.T) {
	v := vocabulary(t, "", " ", "a", "b", "c")
	logits := make([]float32, 7*5)
	say := func(t int, id int, x float32) { logits[t*5+id] = x }
	for at := range 7 {
		say(at, 0, 5)
	}
	say(1, 2, 9) // a
	say(3, 3, 8) // b, or c nearly as well
	say(3, 4, 7.5)
	var f Frames
	f.Set(logits, 5)
	text := func(list ...Hotword) string {
		o := BeamOptions{Width: 8}
		if len(list) > 0 {
			h, err := NewHotwords(v, list)
			if err != nil {
				t.Fatal(err)
			}
			o.Hotwords = h
		}
		s, _ := written(v, mustBeam(t, v, o).Decode(f, 1)[0].Tokens)
		return s
	}
	for _, c := range []struct {
		list []Hotword
		want string
	}{
		{nil, "ab"},
		{[]Hotword{{Phrase: "ac", Boost: 0.1}}, "ab"},
		{[]Hotword{{Phrase: "ac", Boost: 0.5}}, "ac"},
		{[]Hotword{{Phrase: "acca", Boost: 0.5}}, "ab"}, // begun, and taken back
		{[]Hotword{{Phrase: "ac", Boost: 0.5}, {Phrase: "ab", Boost: 0.5}}, "ab"},
		{[]Hotword{{Phrase: "c", Boost: 2}}, "ab"}, // not within a word
	} {
		if got := text(c.list...); got != c.want {
			t.Errorf("%v: %q, want %q", c.list, got, c.want)
		}
	}
}

func TestNewHotwords(t *testing.T) {
	v := vocabulary(t, "", "▁a", "b", "\xe0", "\xa4", "\x97")
	if _, err := NewHotwords(v, []Hotword{{Phrase: "ab a", Boost: 1}, {Phrase: "गa", Boost: 1}, {Phrase: "ab a", AnyEnding: true, Boost: 1}}); err != nil {
		t.Error(err)
	}
	for want, list := range map[string][]Hotword{
		"there are none": nil,
		`"ab" (line 7) is there twice, at first as "ab" (lin`: {{Phrase: "ab", Boost: 1, Line: 2}, {Phrase: "ab", Boost: 2, Line: 7}},
		`"ax" (line 3) has 'x' (U+0078), which no token`:      {{Phrase: "ax", Boost: 1, Line: 3}},
		`"ख" has 'ख' (U+0916)`:                                {{Phrase: "ख", Boost: 1}},
		`"a  b" is no phrase`:                                 {{Phrase: "a  b", Boost: 1}},
		`"" is no phrase`:                                     {{Boost: 1}},
		`"ab" has a boost of 0 nats`:                          {{Phrase: "ab"}},
		"has 1200 bytes":                                      {{Phrase: strings.Repeat("a", 1200), Boost: 1}},
	} {
		_, err := NewHotwords(v, list)
		testkit.MustFail(t, err, "hotwords: ", want)
	}
	// All that can't be used are said at once, the first of many by name.
	list := []Hotword{{Phrase: "ab", Boost: 1, Line: 1}, {Phrase: "ax", Boost: 1, Line: 2}, {Phrase: "ab", Boost: 1, Line: 3}, {Phrase: "y", Boost: 1, Line: 4}}
	_, err := NewHotwords(v, list)
	testkit.MustFail(t, err, "hotwords: 3 of 4 can't be used:\n  \"ax\" (line 2) has 'x'", "\n  \"ab\" (line 3) is there twice", "\n  \"y\" (line 4) has 'y'")
	for i := range 40 {
		list = append(list, Hotword{Phrase: "ax", Boost: 1, Line: 5 + i})
	}
	_, err = NewHotwords(v, list)
	testkit.MustFail(t, err, "hotwords: 43 of 44 can't be used:", "\n  and 23 more")
	if n := strings.Count(err.Error(), "\n"); n != mostNamed+1 {
		t.Errorf("%d lines", n)
	}
}

func TestParseHotwords(t *testing.T) {
	got, err := ParseHotwords("\ufeff# names\n\nपणजी\r\n  मडगांव   शहर  :3.5\nगोंय*\nA :0.25\n a b * \n:x y\n", 2, strings.ToLower)
	if err != nil {
		t.Fatal(err)
	}
	want := []Hotword{
		{"पणजी", 2, false, 3}, {"मडगांव शहर", 3.5, false, 4}, {"गोंय", 2, true, 5}, {"a", 0.25, false, 6}, {"a b", 2, true, 7}, {":x y", 2, false, 8},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	for list, want := range map[string]string{
		"a\nb :much":                   `line 2: the boost "much" is no number`,
		"a :":                          `line 1: the boost "" is no number`,
		"\n:2":                         `line 2: ":2" has no phrase`,
		"a\n*":                         `line 2: "*" has no phrase`,
		"?":                            `line 1: "?" has no phrase: nothing is left`,
		"a :0":                         `"a" (line 1) has a boost of 0`,
		"a :-1":                        `has a boost of -1`,
		"a :NaN":                       `has a boost of NaN`,
		"a :1e9":                       `want more than 0 and at most 100`,
		"good\n\xff":                   "line 2 is no UTF-8",
		strings.Repeat("x", 1001):      "has 1001 bytes; at most 1000",
		strings.Repeat("a b\n", 1e5+1): "line 100001 is one more than the 100000",
	} {
		_, err := ParseHotwords(list, 1, func(s string) string { return strings.ReplaceAll(s, "?", "") })
		testkit.MustFail(t, err, "hotwords: ", want)
	}
}

// Whatever a list holds is read or refused, and what was read makes an automaton.
func FuzzParseHotwords(f *testing.F) {
	for _, s := range []string{"पणजी\nमडगांव :3.5\n", "# a\n\na b* :1\n", "\ufeffx :1e-3\r\n*", "a :\xff", ": :1", "a*:2"} {
		f.Add(s, 1.0)
	}
	f.Fuzz(func(t *testing.T, list string, boost float64) {
		words, err := ParseHotwords(list, boost, nil)
		if err != nil {
			testkit.MustContain(t, err.Error(), "hotwords: ")
			return
		}
		var texts []string
		seen := map[string]bool{}
		twice := false
		for _, w := range words {
			texts = append(texts, w.Phrase)
			twice = twice || seen[w.key()]
			seen[w.key()] = true
			if again, err := ParseHotwords(w.key(), w.Boost, nil); err != nil || len(again) != 1 || again[0].Phrase != w.Phrase || again[0].AnyEnding != w.AnyEnding {
				if !strings.HasPrefix(w.key(), "#") && !strings.HasPrefix(w.Phrase, "\ufeff") && !strings.HasPrefix(lastField(w.key()), ":") {
					t.Fatalf("%+v is read again as %+v, %v", w, again, err)
				}
			}
		}
		if len(words) == 0 || twice {
			return
		}
		v, err := NewVocabulary(append(texts, ""), int32(len(texts)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewHotwords(v, words); err != nil {
			t.Fatal(err)
		}
	})
}

func lastField(s string) string {
	fields := strings.Fields(s)
	return fields[len(fields)-1]
}

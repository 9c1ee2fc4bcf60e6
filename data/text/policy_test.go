package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNormalize(t *testing.T) {
	plain, keep, fold := Policy{}, Policy{KeepJoiners: true}, Policy{FoldDigits: true}
	for _, c := range []struct {
		name   string
		policy Policy
		in     string
		want   string
	}{
		{"nothing", plain, "", ""},
		{"latin stays", plain, "zero one", "zero one"},
		{"spaces around and between latin words", plain, " zero  one ", "zero one"},
		{"a space before a latin word", plain, " zero", "zero"},
		{"a space behind a latin word", plain, "zero ", "zero"},
		{"latin signs stay", plain, "!a~ z", "!a~ z"},
		{"control characters separate", plain, "a\x7fb\x1fc", "a b c"},
		{"spaces around and between", plain, " वाट  वांट ", "वाट वांट"},
		{"no-break space", plain, "वाट\u00a0वांट", "वाट वांट"},
		{"tab", plain, "वाट\tवांट", "वाट वांट"},
		{"em space and CR", plain, "वाट\u2003वांट\r", "वाट वांट"},
		{"line break", plain, "म्हजें\nम्हजे", "म्हजें म्हजे"},
		{"only spaces", plain, "\u00a0 \u2003", ""},
		{"NUL separates", plain, "a\x00b", "a b"},
		{"byte-order mark", plain, "\ufeffवाट", "वाट"},
		{"zero width space, soft hyphen, direction marks", plain, "वा\u200b\u00adट\u200e", "वाट"},
		{"other characters without a shape", plain, "a\u2060b\u061cc\u200fd\u202ae\u202ef\u2066g\u2069h", "abcdefgh"},
		{"their neighbors are others", plain, "a\u2029b\u202fc\u2065d\u206a", "a b c\u2065d\u206a"},
		{"decomposed rra composes", plain, "\u0930\u093c", "\u0931"},
		{"decomposed nnna composes", plain, "\u0928\u093c", "\u0929"},
		{"qa is two code points", plain, "\u0958", "\u0915\u093c"},
		{"dddha is two code points", plain, "\u095c", "\u0921\u093c"},
		{"latin e acute composes", plain, "cafe\u0301", "caf\u00e9"},
		{"zwj stripped", plain, "र्\u200dया", "र्या"},
		{"zwnj stripped", plain, "र्\u200cया", "र्या"},
		{"zwj at the end stripped", plain, "वाट\u200d", "वाट"},
		{"zwj kept", keep, "र्\u200dया", "र्\u200dया"},
		{"zwnj kept", keep, "र्\u200cया", "र्\u200cया"},
		{"stripping lets a nukta compose", plain, "\u0930\u200d\u093c", "\u0931"},
		{"digits left", plain, "२०१७ वर्स", "२०१७ वर्स"},
		{"Devanagari digits folded", fold, "२०१७ वर्स", "2017 वर्स"},
		{"all ten digits", fold, "०१२३४५६७८९", "0123456789"},
		{"Kannada and Arabic-Indic digits folded", fold, "೧೨ ٣٤", "12 34"},
		{"digits beyond the basic plane", fold, "𝟗𝟎", "90"},
		{"ASCII digits stay", fold, "2017", "2017"},
		{"marks stay", plain, "कु प्राचीन बीं", "कु प्राचीन बीं"},
		{"a leading mark stays", plain, "ं तें", "ं तें"},
		{"not UTF-8", plain, "a\xffb", "a\ufffdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.policy.Normalize(c.in); got != c.want {
				t.Errorf("Normalize(%+q) = %+q, want %+q", c.in, got, c.want)
			}
		})
	}
}

// Every decimal digit of Unicode folds to the digit whose place it has in its block of ten.
func TestFoldDigitsOfEveryScript(t *testing.T) {
	fold := Policy{FoldDigits: true}
	next := byte(0)
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.Is(unicode.Nd, r) {
			if next != 0 {
				t.Fatalf("block of digits before U+%04X ends after %d", r, next)
			}
			continue
		}
		n++
		if got, want := fold.Normalize(string(r)), string('0'+next); got != want {
			t.Fatalf("U+%04X folds to %q, want %q", r, got, want)
		}
		next = (next + 1) % 10
	}
	if n < 600 {
		t.Errorf("only %d digits in Unicode", n)
	}
}

func TestStartsWithMark(t *testing.T) {
	for s, want := range map[string]bool{"": false, "वाट": false, "ाककी": true, "ं तें": true, "a": false} {
		if StartsWithMark(s) != want {
			t.Errorf("StartsWithMark(%q) = %v", s, !want)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", " a  b ", "र्\u200dया", "\u0930\u200d\u093c", "२०१७", "\xff\xfe", "e\u0301\u0327", "\u1100\u1161\u11a8"} {
		f.Add(s, false, false)
		f.Add(s, true, true)
	}
	f.Fuzz(func(t *testing.T, s string, keep, fold bool) {
		p := Policy{KeepJoiners: keep, FoldDigits: fold}
		once := p.Normalize(s)
		if !utf8.ValidString(once) {
			t.Fatalf("%+q -> %+q is not UTF-8", s, once)
		}
		if twice := p.Normalize(once); twice != once {
			t.Fatalf("%+q -> %+q -> %+q", s, once, twice)
		}
		last := ' '
		for _, r := range once {
			if isSpace(r) && (r != ' ' || last == ' ') || isInvisible(r) || isJoiner(r) && !keep {
				t.Fatalf("%+q -> %+q keeps %U", s, once, r)
			}
			if fold && r > '9' && unicode.Is(unicode.Nd, r) {
				t.Fatalf("%+q -> %+q keeps the digit %U", s, once, r)
			}
			last = r
		}
		if once != "" && last == ' ' {
			t.Fatalf("%+q -> %+q ends with a space", s, once)
		}
		marks := func(s string) (n []rune) {
			for _, r := range s {
				if r >= 0x900 && r < 0x980 && unicode.Is(unicode.M, r) && r != 0x93c {
					n = append(n, r)
				}
			}
			slices.Sort(n)
			return n
		}
		if !slices.Equal(marks(s), marks(once)) {
			t.Fatalf("%+q -> %+q loses or gains a mark", s, once)
		}
	})
}

func TestRules(t *testing.T) {
	punctuation, lower := Policy{RemovePunctuation: true}, Policy{LowerCase: true}
	latin := Policy{AllowedCharacters: "a-z '"}
	all := Policy{RemovePunctuation: true, LowerCase: true, AllowedCharacters: "a-z' U+0900-U+097F"}
	for _, c := range []struct {
		policy   Policy
		in, want string
	}{
		{punctuation, "हांव घरा वता. तूं?", "हांव घरा वता तूं"},
		{punctuation, "वाट। वांट॥", "वाट वांट"},
		{punctuation, "“हय,” तो म्हणालो", "हय तो म्हणालो"},
		{punctuation, "co-operative—then", "co operative then"},
		{punctuation, "don't, don’t 'quote' rock'", "don't don't quote rock"},
		{punctuation, "d'l'a' a''b 7'8", "d'l'a a b 7 8"},
		{punctuation, "म'ळ", "म'ळ"},
		{punctuation, "वा'ट", "वा'ट"},
		{punctuation, "1/2 + 50% = ₹ 3", "1 2 50 3"},
		{punctuation, "a ❤\ufe0f b 👩🏽", "a b"},
		{punctuation, "क़ कँ के\u0301", "क़ कँ के\u0301"},
		{punctuation, "ASCII stays", "ASCII stays"},
		{punctuation, "...", ""},
		{punctuation, "ऽ ॐ", "ऽ ॐ"},
		{lower, "Panjim GOA", "panjim goa"},
		{lower, "ÀÉÎ ẞ Ǆ ǅ Ⅷ", "àéî ß ǆ ǆ ⅷ"},
		{lower, "ΟΔΟΣ Σ", "οδος σ"},
		{lower, "İI", "i\u0307i"},
		{lower, "अब क", "अब क"},
		{latin, "Don't stop, now", "on't stop now"},
		{latin, "a/b वाट c", "a b c"},
		{all, "Hello, “वाट” №5 don’t", "hello वाट don't"},
		{Policy{AllowedCharacters: "a e"}, "e\u0301a xe", "a e"},
		{Policy{AllowedCharacters: "a U+0301"}, "ae\u0301 ab\u0301", "a"}, // they compose, and á is no a,
		{Policy{AllowedCharacters: "a-c", RemovePunctuation: true}, "a'z c'b", "a c b"},
	} {
		if got := c.policy.Normalize(c.in); got != c.want {
			t.Errorf("%+v: %+q becomes %+q, want %+q", c.policy, c.in, got, c.want)
		}
	}
}

// Characters of all kinds by themselves, and between two letters: what a rule has done it does not do again.
func TestRulesAreIdempotent(t *testing.T) {
	for _, p := range []Policy{
		{LowerCase: true}, {RemovePunctuation: true}, {LowerCase: true, RemovePunctuation: true, FoldDigits: true},
		{AllowedCharacters: "a-zA-Z U+0300-U+036F’", RemovePunctuation: true, LowerCase: true},
	} {
		for r := rune(0); r < 0xe0200; r++ {
			if r > 0x3400 && !unicode.In(r, unicode.Lu, unicode.Lt, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Cf) {
				continue
			}
			for _, s := range []string{string(r), "a" + string(r) + "\u0301"} {
				once := p.Normalize(s)
				if twice := p.Normalize(once); twice != once {
					t.Fatalf("%+v: %+q becomes %+q, then %+q", p, s, once, twice)
				}
				for _, c := range once {
					if p.LowerCase && unicode.ToLower(c) != c || p.RemovePunctuation && c != '\'' && isPunctuation(c) {
						t.Fatalf("%+v: %+q becomes %+q", p, s, once)
					}
				}
			}
			if unicode.Is(unicode.M, r) && !isVariation(r) && (Policy{RemovePunctuation: true}).Normalize("a"+string(r)) != (Policy{}).Normalize("a"+string(r)) {
				t.Fatalf("the mark %U is gone", r)
			}
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add("Don't “वाट” a’b ❤\ufe0f İΣ", "a-z U+0900-U+097F'")
	f.Add("e\u0301\u0327'\u200d’", "e U+0301")
	f.Add("", "--a a--")
	f.Fuzz(func(t *testing.T, s, set string) {
		if set != "" && ParseCharacters(set) != nil {
			return
		}
		for _, p := range []Policy{{AllowedCharacters: set}, {true, true, true, true, set}, {false, true, true, false, set}, {LowerCase: true, AllowedCharacters: set}} {
			once := p.Normalize(s)
			if twice := p.Normalize(once); twice != once {
				t.Fatalf("%+v: %+q becomes %+q, then %+q", p, s, once, twice)
			}
			if c := charactersOf(set); c != nil {
				for _, r := range once {
					if !c.has(r) {
						t.Fatalf("%+v: %+q becomes %+q, which has %q", p, s, once, r)
					}
				}
			}
			if got, _ := p.Rewrite(s); got != once {
				t.Fatalf("%+v: %+q becomes %+q when it is counted", p, s, got)
			}
		}
	})
}

func TestParseCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"a-c":              "abc",
		"abc a":            "abc",
		"-a":               "-a",
		"a-":               "-a",
		"U+0905-U+0907 क":  "अआइक",
		"U+0061-c U+1F600": "abc😀",
		"+-/ U":            "+,-./U",
		"b-d a-c":          "abcd",
	} {
		c, err := parseCharacters(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []rune
		for r := rune('!'); r <= unicode.MaxRune; r++ {
			if c.has(r) {
				got = append(got, r)
			}
		}
		if string(got) != want || !c.has(' ') {
			t.Errorf("%q is %q, want %q", text, string(got), want)
		}
	}
	for text, want := range map[string]string{
		" ": "has no character", "z-a": "z-a ends before it begins", "U+12": "U+12 is no code point", "U+110000": "U+110000 is no code point", "U+D800": "U+D800 is no code point",
		"a U+0900-":   "U+0900- is a range without an end",
		"a-U+0000001": "U+0000001 is no code point", "\xff": "not UTF-8",
	} {
		if err := ParseCharacters(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestChangesAreCounted(t *testing.T) {
	p := Policy{FoldDigits: true, LowerCase: true, RemovePunctuation: true, AllowedCharacters: "a-z 0-9 U+0900-U+097F"}
	var c Changes
	for i, s := range []string{"Ab१, cध.", "वा\u200dट। A1.", "plain", "é,,"} {
		_, edits := p.Rewrite(s)
		c.Add(edits, Place{"m", i + 1})
	}
	got := strings.Join(c.Lines(func(p Place) string { return fmt.Sprint(p.File, p.Line) }), "\n")
	const want = `keep_joiners: 1 character in 1 text removed (without keep_joiners): U+200D x 1 (m2)
fold_digits: 1 character in 1 text folded: "१" x 1 (m1)
lower_case: 2 characters in 2 texts in lower case now: "A" x 2 (m1)
remove_punctuation: 6 characters in 3 texts removed: "," x 3 (m1), "." x 2 (m1), "।" x 1 (m2)
allowed_characters: 1 character in 1 text removed: "é" x 1 (m4)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	list := c.List()
	if x := list[3]; x.Char != "," || x.Count != 3 || !slices.Equal(x.First, []Place{{"m", 1}, {"m", 4}}) {
		t.Errorf("%+v", x)
	}
	if (&Changes{}).Lines(nil) != nil {
		t.Error("nothing was changed, and something is said")
	}
}

func TestShow(t *testing.T) {
	for s, want := range map[string]string{"a": `"a"`, "ा": `"◌ा"`, "\u200d": "U+200D", "▁वा": `"▁वा"`, "\"": `"\""`, "\u00a0": "U+00A0", " ": `" "`} {
		if got := Show(s); got != want {
			t.Errorf("%+q: %s, want %s", s, got, want)
		}
	}
}

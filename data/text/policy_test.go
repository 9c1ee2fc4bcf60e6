package text

import (
	"slices"
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
		p := Policy{keep, fold}
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

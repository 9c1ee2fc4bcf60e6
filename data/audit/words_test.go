package audit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func newCharacters() *characters {
	return &characters{audit: &audit{}, of: map[rune]*letter{}, scripts: map[string]*script{}}
}

// Words of two scripts are named, and words beside each other are not.
func TestMixedWords(t *testing.T) {
	for s, want := range map[string]string{
		"plain words": "", "एक दोन": "", "एक two तीन": "", "PDF-ांत": "", "क्ष‍ण": "", "日本語のテキスト": "", "한국어漢字": "",
		"काoजा":       "काoजा has o U+006F Latin",
		"lаtin":       "lаtin has а U+0430 Cyrillic",
		"एक (aक) दोन": "aक has क U+0915 Devanagari",
	} {
		if got := newCharacters().mixedWords(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestLookalikes(t *testing.T) {
	for s, n := range map[string]int{
		"दु:ख": 1, "दुःख": 0, "म्हणटा: एक": 0, "time: 10:30": 0, "एक | दोन": 1, "एक। दोन": 0, "a|b": 0, "क०म": 1, "१० जाण": 0, "एक 10": 0, "का:मा |": 2,
	} {
		if got := newCharacters().lookalikes(s); (got != "") != (n > 0) || strings.Count(got, ", ")+1 < n {
			t.Errorf("%q: %q, want %d", s, got, n)
		}
	}
}

func TestLoneMarks(t *testing.T) {
	for s, odd := range map[string]bool{
		"का": false, "ाका": true, "एक ि": true, "e\u0301": false, "\u0301e": true, "क्‍ष": false, "(ा": true, "◌ा": false, "abc": false, "": false,
	} {
		if got := loneMarks(s); (got != "") != odd {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// Wrong encodings are told from languages that use the same letters.
func TestDamage(t *testing.T) {
	wrong := func(s string) string { // UTF-8 read as Latin-1
		var b strings.Builder
		for i := range len(s) {
			b.WriteRune(rune(s[i]))
		}
		return b.String()
	}
	for s, odd := range map[string]bool{
		"आनी": false, "naïve café à la carte": false, "São Tomé, Ângela": false, "Über Äpfel": false, "l’été": false, "là où": false,
		wrong("आनी"): true, wrong("é"): true, "à¤†": true, "â€™": true, "\ufffd": true, "\ue000": true, "": false,
	} {
		if got := damage(s); (got != "") != odd {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// No text breaks what looks at texts.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "एक:दोन|", "\xff\xfe", "ाoक", "à¤", "10:क", "\u200dक", "👩‍🔬"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := newCharacters()
		for _, said := range []string{c.mixedWords(s), c.lookalikes(s), loneMarks(s), damage(s)} {
			if utf8.ValidString(s) && !utf8.ValidString(said) {
				t.Errorf("%q gives %q", s, said)
			}
		}
		if n := letters(s); n < 0 || int(n) > len(s) {
			t.Errorf("%d letters in %q", n, s)
		}
	})
}

package text

import "testing"

func TestScript(t *testing.T) {
	for r, want := range map[rune]string{
		'a': "Latin", 'क': "Devanagari", 'ा': "Devanagari", '५': "", '।': "", '.': "", ' ': "", 'ಕ': "Kannada", '漢': "CJK", 'か': "CJK", '\u0301': "", 'ж': "Cyrillic",
	} {
		if got := Script(r); got != want {
			t.Errorf("%q: %q, want %q", r, got, want)
		}
	}
}

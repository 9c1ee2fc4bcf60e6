package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// lower writes letters in lower case. Two have more to them than a table: a sigma at the end of a word, and the capital
// İ, which becomes an i and a dot above.
func lower(s string, changed func(Rule, rune)) string {
	n := 0
	for _, r := range s {
		if unicode.ToLower(r) != r {
			changed(LowerCase, r)
			n++
		}
	}
	switch {
	case n == 0:
		return s
	case strings.ContainsAny(s, "Σİ"):
		return cases.Lower(language.Und).String(s)
	}
	return strings.ToLower(s)
}

// isPunctuation is true for the Unicode categories P and S, but for U+FFFD: it stands for a character that could not be
// read, or that a model has no token for, mostly a letter.
func isPunctuation(r rune) bool {
	return (unicode.IsPunct(r) || unicode.IsSymbol(r)) && r != utf8.RuneError
}

// isApostrophe is true for what is written between the letters of "don't".
func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// isVariation is true for a variation selector, which says how the character before it is drawn.
func isVariation(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }

// withoutPunctuation writes a space for each mark of punctuation and each sign.
func withoutPunctuation(s string, changed func(Rule, rune)) string {
	var b strings.Builder
	b.Grow(len(s))
	before := ' ' // the character in front
	for i, r := range s {
		kept := r
		switch {
		case isApostrophe(r) && isWordly(before) && isWordly(after(s, i, r)):
			kept = '\''
		case isPunctuation(r):
			changed(RemovePunctuation, r)
			kept = ' '
		case isVariation(r) && isPunctuation(before):
			changed(RemovePunctuation, r)
			before = r
			continue
		}
		b.WriteRune(kept)
		before = r
	}
	return b.String()
}

// after is the character behind the one at byte i of s, U+FFFD at the end.
func after(s string, i int, r rune) rune {
	next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	return next
}

// isWordly is true for what an apostrophe can stand between.
func isWordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

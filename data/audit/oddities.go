package audit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"konkanitrain/internal/words"
)

// What is odd in one text, in words; "" where nothing is.

// mixedWords names words with letters of two scripts.
func (c *characters) mixedWords(s string) string {
	if isASCII(s) {
		return ""
	}
	var found []string
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M) && !joiner(r) }) {
		counts := map[string]int{}
		main := ""
		for _, r := range word {
			if script := c.at(r).script; script != "" {
				if counts[script]++; counts[script] > counts[main] {
					main = script
				}
			}
		}
		if len(counts) < 2 {
			continue
		}
		var odd []string
		for _, r := range word {
			if script := c.at(r).script; script != "" && script != main {
				odd = append(odd, fmt.Sprintf("%c U+%04X %s", r, r, script))
			}
		}
		found = append(found, word+" has "+words.List(odd, 2))
	}
	return words.List(found, 3)
}

func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// lookalikes names signs that are taken for those of an Indic script: a colon in a word for visarga, a vertical line
// behind a word for danda, a digit within a word for a letter.
func (c *characters) lookalikes(s string) string {
	var found []string
	var before rune // the last character
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		indic := before != 0 && indic(c.at(before).script)
		switch {
		case r == ':' && indic && unicode.In(next, unicode.L, unicode.M):
			found = append(found, "a colon within a word, like visarga")
		case r == '|' && s != "|" && (indic || before == ' '):
			found = append(found, "a vertical line, like danda (U+0964)")
		case unicode.Is(unicode.Nd, r) && indic && indicLetter(c, next):
			found = append(found, fmt.Sprintf("the digit %c within a word", r))
		}
		before = r
	}
	return words.List(slices.Compact(found), 3)
}

func indicLetter(c *characters, r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && indic(c.at(r).script)
}

// indic scripts use danda, and most visarga.
func indic(script string) bool {
	switch script {
	case "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala":
		return true
	}
	return false
}

// loneMarks names words that start with a combining mark.
func loneMarks(s string) string {
	if isASCII(s) {
		return ""
	}
	var found []string
	before := ' '
	for _, r := range s {
		if unicode.Is(unicode.M, r) && !unicode.In(before, unicode.L, unicode.M) && !joiner(before) && before != '\u25cc' {
			found = append(found, fmt.Sprintf("U+%04X without a letter", r))
		}
		before = r
	}
	return words.List(found, 3)
}

// damage names characters that a text has by mistake: what a decoder puts for bytes it can't read, code points that
// mean nothing, and letters that UTF-8 gives when it is read as a Western encoding.
func damage(s string) string {
	if isASCII(s) {
		return ""
	}
	var found []string
	var before rune
	for _, r := range s {
		switch {
		case r == utf8.RuneError:
			found = append(found, "U+FFFD stands for bytes that could not be read")
		case unicode.Is(unicode.Co, r):
			found = append(found, fmt.Sprintf("U+%04X is for private use", r))
		case mojibake(before, r):
			found = append(found, fmt.Sprintf("%c%c looks like UTF-8 that was read as Latin-1 or Windows-1252", before, r))
		}
		before = r
	}
	return words.List(slices.Compact(found), 3)
}

// mojibake says whether two characters are the first two bytes of a character in UTF-8, read one by one: the first byte
// of Latin with marks (C3), of Indic scripts (E0) or of punctuation (E2), and a byte behind it, which is a letter in no
// Western encoding.
func mojibake(first, second rune) bool {
	switch first {
	case 'Ã', 'Â':
		return second >= 0x80 && second <= 0xBF && second != 'ª' && second != 'º' && second != ' '
	case 'à':
		return second == '¤' || second == '¥' || second == '¦' || second == '§' || second == '¨' || second == '©' || second == '®'
	case 'â':
		return second == '€' || second == 0x80
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

package text

import (
	"strings"
	"unicode"
)

// Script is the script of a letter or mark, "" for what several scripts have or none. Those that Japanese, Korean and
// Chinese mix are one.
func Script(r rune) string {
	if !unicode.In(r, unicode.L, unicode.M) || unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) {
		return "CJK"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return strings.ReplaceAll(name, "_", " ")
		}
	}
	return ""
}

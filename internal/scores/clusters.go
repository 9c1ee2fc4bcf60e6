package scores

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Clusters cuts a text into what readers take for its characters: extended grapheme clusters (Unicode Standard Annex
// 29), with conjuncts such as the Devanagari kssa as one (its rule GB9c, since Unicode 15.1). Words, which are split at
// white space, have one " " between them, which is a cluster of its own. "" has none.
func Clusters(text string) []string {
	var list []string
	for i, word := range strings.Fields(text) {
		if i > 0 {
			list = append(list, " ")
		}
		first := len(list)
		for state := -1; word != ""; {
			var cluster string
			cluster, word, _, state = uniseg.FirstGraphemeClusterInString(word, state)
			if last := len(list) - 1; last >= first && joins(list[last], cluster) {
				list[last] += cluster
				continue
			}
			list = append(list, cluster)
		}
	}
	return list
}

// joins says whether a cluster ends with what links it to the consonant that the next one starts with.
func joins(cluster, next string) bool {
	if r, _ := utf8.DecodeRuneInString(next); !unicode.Is(linkedConsonants, r) {
		return false
	}
	linked := false
	for s := cluster; s != ""; {
		r, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		switch {
		case unicode.Is(linkers, r):
			linked = true
		case unicode.Is(linkedConsonants, r):
			return linked
		case r != zeroWidthJoiner && !unicode.Is(nuktas, r):
			return false
		}
	}
	return false
}

const zeroWidthJoiner = '\u200d'

// What conjuncts are made of, in the scripts that GB9c is about: the property Indic_Conjunct_Break.
var (
	linkers          = table(0x094D, 0x094D, 0x09CD, 0x09CD, 0x0ACD, 0x0ACD, 0x0B4D, 0x0B4D, 0x0C4D, 0x0C4D, 0x0D4D, 0x0D4D)
	nuktas           = table(0x093C, 0x093C, 0x09BC, 0x09BC, 0x0ABC, 0x0ABC, 0x0B3C, 0x0B3C, 0x0C3C, 0x0C3C)
	linkedConsonants = table(
		0x0915, 0x0939, 0x0958, 0x095F, 0x0978, 0x097F, // Devanagari
		0x0995, 0x09A8, 0x09AA, 0x09B0, 0x09B2, 0x09B2, 0x09B6, 0x09B9, 0x09DC, 0x09DD, 0x09DF, 0x09DF, 0x09F0, 0x09F1, // Bengali
		0x0A95, 0x0AA8, 0x0AAA, 0x0AB0, 0x0AB2, 0x0AB3, 0x0AB5, 0x0AB9, 0x0AF9, 0x0AF9, // Gujarati
		0x0B15, 0x0B28, 0x0B2A, 0x0B30, 0x0B32, 0x0B33, 0x0B35, 0x0B39, 0x0B5C, 0x0B5D, 0x0B5F, 0x0B5F, 0x0B71, 0x0B71, // Oriya
		0x0C15, 0x0C28, 0x0C2A, 0x0C39, 0x0C58, 0x0C5A, // Telugu
		0x0D15, 0x0D3A, // Malayalam
	)
)

// table has the code points of ranges, each from and to.
func table(bounds ...uint16) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for i := 0; i < len(bounds); i += 2 {
		t.R16 = append(t.R16, unicode.Range16{Lo: bounds[i], Hi: bounds[i+1], Stride: 1})
	}
	return t
}

// shown is a cluster as a line has it: a mark without a letter stands on a dotted circle.
func shown(cluster string) string {
	if r, _ := utf8.DecodeRuneInString(cluster); unicode.Is(unicode.M, r) {
		return "\u25cc" + cluster
	}
	return cluster
}

// Width is how many columns of a terminal a text takes, with a font of fixed width.
func Width(text string) int { return uniseg.StringWidth(text) }

package ngram

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unit is what texts are cut into.
type Unit string

// The units there are.
const (
	Words      Unit = "words"      // what stands between spaces
	Characters Unit = "characters" // code points, and Space for a space
)

// Noun is one of the unit: "word", "character".
func (u Unit) Noun() string { return strings.TrimSuffix(string(u), "s") }

// Heading begins the comment in an ARPA file that says what its words are.
func (u Unit) Heading() string { return "n-grams of " + string(u) }

// Space is the word of a model of characters that stands for a space: U+2581, as models of SentencePiece have it.
const Space = "▁"

// Split cuts a text with single spaces. The parts are pieces of the text itself.
func (u Unit) Split(text string) iter.Seq[string] {
	if u == Characters {
		return characters(text)
	}
	return strings.FieldsSeq(text)
}

func characters(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			r, n := utf8.DecodeRuneInString(text)
			part := text[:n]
			if unicode.IsSpace(r) {
				part = Space
			}
			if !yield(part) {
				return
			}
			text = text[n:]
		}
	}
}

// oneRune says whether a word is one code point.
func oneRune(word []byte) bool {
	_, n := utf8.DecodeRune(word)
	return n == len(word)
}

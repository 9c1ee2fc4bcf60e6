package ngram

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Unit is what texts are cut into.
type Unit string

// The units there are.
const (
	Words      Unit = "words"      // what stands between spaces
	Characters Unit = "characters" // code points, and Space for a space
)

// Space is the word of a model of characters that stands for a space: U+2581, as models of SentencePiece have it.
const Space = "▁"

// Split cuts a text with single spaces. The parts are strings of the text itself; making them allocates nothing.
func (u Unit) Split(text string) iter.Seq[string] {
	if u == Characters {
		return characters(text)
	}
	return strings.FieldsSeq(text)
}

func characters(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			_, n := utf8.DecodeRuneInString(text)
			part := text[:n]
			if part == " " {
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

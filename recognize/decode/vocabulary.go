package decode

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Space is what stands for a space in the units of a language model of tokens or characters, as in pieces of
// SentencePiece: a table of n-grams is separated by spaces.
const Space = "▁"

// Vocabulary says what each token writes. It never changes once made, and may be used by several goroutines.
type Vocabulary struct {
	blank  int32
	pieces []piece
}

// piece is what a token writes, cut at its spaces: the end of a word, whole words, the begin of a word.
type piece struct {
	text  string   // with ' ' for each space
	space bool     // it has one
	head  string   // up to the first space, or all of it
	inner []string // between spaces
	tail  string   // behind the last space
}

// nothing is what a token writes that is not there, and the blank.
var nothing piece

// NewVocabulary takes what each id writes. White space and ▁ separate words: pieces of SentencePiece have it where a
// word begins, a vocabulary of characters as a token of its own. A token that is a part of a character may have the
// bytes of that part. What the blank writes is not looked at.
func NewVocabulary(texts []string, blank int32) (*Vocabulary, error) {
	if blank < 0 || int(blank) >= len(texts) {
		return nil, fmt.Errorf("the blank's id is %d: there are %d tokens", blank, len(texts))
	}
	v := &Vocabulary{blank: blank, pieces: make([]piece, len(texts))}
	for id, s := range texts {
		if int32(id) != blank {
			v.pieces[id] = newPiece(s)
		}
	}
	return v, nil
}

func newPiece(s string) piece {
	s = spaced(s)
	parts := strings.Split(s, " ")
	p := piece{text: s, head: parts[0]}
	if n := len(parts) - 1; n > 0 {
		p.space, p.tail = true, parts[n]
		for _, w := range parts[1:n] {
			if w != "" {
				p.inner = append(p.inner, w)
			}
		}
	}
	return p
}

// spaced is s with ' ' for each white space and ▁. Bytes that are no UTF-8 stay what they are.
func spaced(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) || s[i:i+size] == Space {
			b.WriteByte(' ')
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Size is the number of ids V.
func (v *Vocabulary) Size() int { return len(v.pieces) }

// Blank is the id of the blank.
func (v *Vocabulary) Blank() int32 { return v.blank }

// piece is that of an id; one that is not there writes nothing.
func (v *Vocabulary) piece(id int32) *piece {
	if id < 0 || int(id) >= len(v.pieces) {
		return &nothing
	}
	return &v.pieces[id]
}

// Covers counts units of texts, words or characters, and those of them that tokens can write; strange is the first that
// they can't. The space isn't counted.
func (v *Vocabulary) Covers(units iter.Seq[string]) (can, all int, strange string) {
	writes := v.writes()
	for u := range units {
		if u == Space {
			continue
		}
		all++
		if !strings.ContainsFunc(u, func(r rune) bool { return !writes(r) }) {
			can++
		} else if strange == "" {
			strange = u
		}
	}
	return can, all, strange
}

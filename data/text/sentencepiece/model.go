// Package sentencepiece reads the tokenizer models of SentencePiece (Kudo and Richardson 2018), files that end in
// .model, and applies them: it gives the ids and the texts that version 0.2 of the library gives. It trains models of
// byte pair encoding as well, which that library reads in turn.
package sentencepiece

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Kind is what a piece is for.
type Kind uint8

// The kinds of pieces, numbered as in a model's file.
const (
	Normal      Kind = 1
	Unknown     Kind = 2 // stands for what no other piece can write; there is one
	Control     Kind = 3 // never in a text: <s>, </s>, <pad>
	UserDefined Kind = 4 // always one piece, wherever it occurs
	Unused      Kind = 5 // never used
	Byte        Kind = 6 // one byte of what no other piece can write: <0x00> to <0xFF>
)

// Piece is one entry of a model.
type Piece struct {
	Text  string // with ▁ for a space
	Score float32
	Kind  Kind
}

// Algorithm is how a model cuts texts.
type Algorithm uint8

// The algorithms, numbered as in a model's file.
const (
	Unigram Algorithm = 1 // the likeliest pieces (Kudo 2018)
	BPE     Algorithm = 2 // byte pair encoding (Sennrich et al. 2016): neighbors are joined, best score first
	Word    Algorithm = 3 // at spaces
	Char    Algorithm = 4 // into characters
)

// String is the name that SentencePiece gives it.
func (a Algorithm) String() string {
	if names := []string{"unigram", "bpe", "word", "char"}; a >= 1 && int(a) <= len(names) {
		return names[a-1]
	}
	return "algorithm " + strconv.Itoa(int(a))
}

// Space stands for a space inside of pieces.
const Space = "▁"

// defaultUnknown is what Unknown is written as by a model that says nothing else.
const defaultUnknown = " ⁇ "

// Model is a tokenizer. It never changes once made, and may be used by several goroutines.
type Model struct {
	Algorithm Algorithm
	Pieces    []Piece // by id

	normalizer   normalizer
	denormalizer *normalizer // nil for none
	bytes        [256]int    // ids of byte pieces, where what is unknown falls back to them
	fallback     bool
	unknownText  string // what Unknown is written as

	texts    map[string]int // ids of pieces that texts are cut into
	reserved map[string]int // ids of the others
	unknown  int            // id
	symbols  *trie          // user-defined pieces; nil for none
	trie     *trie          // of texts, for Unigram
	least    float32        // score of a normal piece
	greatest float32
}

// index makes what encoding needs of the pieces, and refuses pieces that make no model.
func (m *Model) index() error {
	if m.Algorithm < Unigram || m.Algorithm > Char {
		return fmt.Errorf("model type %d is unknown: unigram (1), bpe (2), word (3) and char (4) can be used", m.Algorithm)
	}
	m.texts, m.reserved, m.unknown = map[string]int{}, map[string]int{}, -1
	m.least, m.greatest = math.MaxFloat32, 0x1p-126 // the library's: the smallest normal number
	bytes := 0
	for id, p := range m.Pieces {
		if err := m.add(id, p); err != nil {
			return fmt.Errorf("piece %d, %.40q: %w", id, p.Text, err)
		}
		if p.Kind == Byte {
			bytes++
		}
	}
	switch {
	case len(m.Pieces) == 0:
		return errors.New("there are no pieces")
	case m.unknown < 0:
		return errors.New("no piece is of the kind unknown")
	case m.fallback && bytes < len(m.bytes):
		return fmt.Errorf("byte_fallback is set, and only %d of 256 bytes are pieces", bytes)
	}
	m.normalizer.symbols = m.symbols
	return nil
}

// add indexes one piece.
func (m *Model) add(id int, p Piece) error {
	if p.Text == "" || !utf8.ValidString(p.Text) {
		return errors.New("it is empty or not UTF-8")
	}
	if s := float64(p.Score); math.IsNaN(s) || math.IsInf(s, 0) {
		return errors.New("its score is no finite number")
	}
	index := m.reserved
	switch p.Kind {
	case Normal:
		m.least, m.greatest = min(m.least, p.Score), max(m.greatest, p.Score)
		index = m.texts
	case UserDefined:
		m.symbols = m.symbols.with(p.Text, id)
		index = m.texts
	case Unused:
		index = m.texts
	case Unknown:
		if m.unknown >= 0 {
			return fmt.Errorf("piece %d is of the kind unknown already", m.unknown)
		}
		m.unknown = id
	case Control:
	case Byte:
		b, ok := byteOf(p.Text)
		if !m.fallback || !ok {
			return errors.New("it is of the kind byte, and byte_fallback is not set or it is not of the form <0x0A>")
		}
		m.bytes[b] = id
	default:
		return fmt.Errorf("its kind %d is unknown", p.Kind)
	}
	if before, twice := index[p.Text]; twice {
		return fmt.Errorf("it is piece %d as well", before)
	}
	index[p.Text] = id
	if m.Algorithm == Unigram && (p.Kind == Normal || p.Kind == UserDefined || p.Kind == Unused) {
		m.trie = m.trie.with(p.Text, id)
	}
	return nil
}

// byteOf reads "<0x0A>".
func byteOf(s string) (byte, bool) {
	if len(s) != 6 || s[:3] != "<0x" || s[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(s[3:5], 16, 8)
	return byte(b), err == nil && s == byteText(byte(b))
}

func byteText(b byte) string { return fmt.Sprintf("<0x%02X>", b) }

// id of a piece's text; that of Unknown for others.
func (m *Model) id(text string) int {
	if id, ok := m.reserved[text]; ok {
		return id
	}
	if id, ok := m.texts[text]; ok {
		return id
	}
	return m.unknown
}

package sentencepiece

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// made writes a model's file of these pieces.
func made(algorithm Algorithm, trainer []byte, normalizer []byte, pieces ...Piece) []byte {
	b := (&Model{Algorithm: algorithm, Pieces: pieces}).File()
	b = protowire.AppendBytes(protowire.AppendTag(b, modelTrainer, protowire.BytesType), trainer)
	return protowire.AppendBytes(protowire.AppendTag(b, modelNormalizer, protowire.BytesType), normalizer)
}

func TestRefusedFiles(t *testing.T) {
	unk, a := Piece{"<unk>", 0, Unknown}, Piece{"a", 0, Normal}
	fallback := protowire.AppendVarint(protowire.AppendTag(nil, trainerFallback, protowire.VarintType), 1)
	rules := func(b ...byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, normalizerRules, protowire.BytesType), b)
	}
	whole := made(BPE, nil, nil, unk, a)
	for want, file := range map[string][]byte{
		"there are no pieces":                 nil,
		"damaged, or cut off":                 []byte("PK\x03\x04 a zip"),
		"is damaged, or cut off":              whole[:len(whole)-3],
		"no piece is of the kind unknown":     made(BPE, nil, nil, a),
		"piece 0 is of the kind unknown":      made(BPE, nil, nil, unk, Piece{"b", 0, Unknown}),
		`piece 2, "a": it is piece 1 as well`: made(BPE, nil, nil, unk, a, a),
		"it is empty or not UTF-8":            made(BPE, nil, nil, unk, Piece{"", 0, Normal}),
		"not UTF-8":                           made(BPE, nil, nil, unk, Piece{"\xff", 0, Normal}),
		"no finite number":                    made(BPE, nil, nil, unk, Piece{"a", float32(math.NaN()), Normal}),
		"its kind 7 is unknown":               made(BPE, nil, nil, unk, Piece{"a", 0, 7}),
		"model type 9 is unknown":             made(9, nil, nil, unk, a),
		"byte_fallback is not set":            made(BPE, nil, nil, unk, Piece{"<0x41>", 0, Byte}),
		"not of the form <0x0A>":              made(BPE, fallback, nil, unk, Piece{"<0x4a>", 0, Byte}),
		"only 1 of 256 bytes are pieces":      made(BPE, fallback, nil, unk, Piece{"<0x41>", 0, Byte}),
		"shorter than its header":             made(BPE, nil, rules(1, 2), unk, a),
		"its trie is said to have 99 bytes":   made(BPE, nil, rules(99, 0, 0, 0, 0), unk, a),
		"its last text has no end":            made(BPE, nil, rules(4, 0, 0, 0, 1, 0, 0, 0, 'x'), unk, a),
		"is the text at byte 7":               made(BPE, nil, rules(4, 0, 0, 0, 7, 0, 0, 0x80, 0), unk, a),
		"want 2":                              {modelTrainer<<3 | byte(protowire.VarintType), 1},
	} {
		if _, err := Parse(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A piece that is not to be used is taken apart into what it was joined of; the unigram model goes around it.
func TestUnusedPieces(t *testing.T) {
	pieces := []Piece{{"<unk>", 0, Unknown}, {Space, -9, Normal}, {"a", -8, Normal}, {"b", -7, Normal}, {"ab", -1, Unused}, {"abb", -2, Normal}}
	for algorithm, want := range map[Algorithm][]int{BPE: {1, 2, 3, 1, 5}, Unigram: {1, 2, 3, 1, 5}} {
		m, err := Parse(made(algorithm, nil, nil, pieces...))
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(m.Encode("ab abb")); !slices.Equal(got, want) {
			t.Errorf("%v: %d, want %d", algorithm, got, want)
		}
	}
}

// What a denormalizer's rules say is applied to decoded text; b becomes c here.
func TestDenormalizer(t *testing.T) {
	units := make([]uint32, 0x100)
	units[0] = 0x80 << 10
	units[0x80^'b'] = 'b' | 1<<8 | 1<<10
	units[0x80^'b'^1] = leaf
	blob := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		blob = binary.LittleEndian.AppendUint32(blob, u)
	}
	blob = append(blob, "c\x00"...)
	spec := protowire.AppendBytes(protowire.AppendTag(nil, normalizerRules, protowire.BytesType), blob)
	for _, n := range []protowire.Number{normalizerPrefix, normalizerExtra, normalizerEscape} {
		spec = protowire.AppendVarint(protowire.AppendTag(spec, n, protowire.VarintType), 0)
	}
	file := made(Char, nil, nil, Piece{"<unk>", 0, Unknown}, Piece{"a", 0, Normal}, Piece{"b", 0, Normal})
	file = protowire.AppendBytes(protowire.AppendTag(file, modelDenormalizer, protowire.BytesType), spec)
	m, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Decode([]int{2, 1, 2, 99, -1}); got != "cac" {
		t.Errorf("%q", got)
	}
}

// FuzzModel reads damaged files, and applies what can be read of them.
func FuzzModel(f *testing.F) {
	names, err := filepath.Glob("testdata/*.model")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "the <sep> वाट\xff A\u00a0b ﬁ", 3, byte(1))
		f.Add(b, "  ", len(b)-1, byte(0x80))
	}
	f.Fuzz(func(t *testing.T, b []byte, s string, at int, flip byte) {
		if at >= 0 && at < len(b) {
			b = slices.Clone(b)
			b[at] ^= flip
		}
		m, err := Parse(b)
		if err != nil {
			return
		}
		parts := m.Encode(s)
		for _, p := range parts {
			if p.ID < 0 || p.ID >= len(m.Pieces) {
				t.Fatalf("%q has the id %d", s, p.ID)
			}
		}
		if back := m.Decode(ids(parts)); !utf8.ValidString(back) {
			t.Fatalf("%q comes back as %q", s, back)
		}
	})
}

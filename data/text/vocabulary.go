package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// replacement stands for <unk> in decoded text: one character, so that it counts as one error.
const replacement = utf8.RuneError

// Vocabulary is the Tokenizer of characters (Unicode code points): a token for each. It never changes once made, and
// may be used by several goroutines.
type Vocabulary struct {
	chars []rune // of ids len(specials) and up
	ids   map[rune]int32
}

// NewVocabulary makes a vocabulary of the three specials and chars, in the order given. A character twice, or
// none at all, is an error.
func NewVocabulary(chars []rune) (*Vocabulary, error) {
	if len(chars) == 0 {
		return nil, errors.New("vocabulary: no characters: the training texts are empty, or min_char_count is too high")
	}
	v := &Vocabulary{chars: slices.Clone(chars), ids: make(map[rune]int32, len(chars))}
	for i, r := range chars {
		id := int32(len(specials) + i)
		if before, twice := v.ids[r]; twice {
			return nil, fmt.Errorf("vocabulary: the character %q (U+%04X) has two ids, %d and %d; remove one", r, r, before, id)
		}
		v.ids[r] = id
	}
	return v, nil
}

// Build makes a vocabulary of the characters that occur at least minCount times in texts (1 or less: all of
// them), in code point order. The texts must be normalized.
func Build(texts iter.Seq[string], minCount int) (*Vocabulary, error) {
	var chars []rune
	for _, c := range CountCharacters(texts) {
		if c.Count >= minCount {
			r, _ := utf8.DecodeRuneInString(c.Char)
			chars = append(chars, r)
		}
	}
	return NewVocabulary(chars)
}

// Size is the number of ids V, the specials included.
func (v *Vocabulary) Size() int { return len(specials) + len(v.chars) }

// ID returns the id of r, and whether r is in the vocabulary; if it is not, the id is Unk.
func (v *Vocabulary) ID(r rune) (int32, bool) {
	if id, ok := v.ids[r]; ok {
		return id, true
	}
	return Unk, false
}

// Token is the written form of an id: a character, or <blank>, <sos/eos>, <unk>; "" where there is no such id.
func (v *Vocabulary) Token(id int32) string {
	switch {
	case id < 0 || int(id) >= v.Size():
		return ""
	case int(id) < len(specials):
		return specials[id]
	}
	return string(v.chars[int(id)-len(specials)])
}

// Encode returns the ids of the characters of s, one for one; characters outside the vocabulary become Unk and
// are added to unknown, which may be nil.
func (v *Vocabulary) Encode(s string, unknown *Unknown) []int32 {
	out := make([]int32, 0, utf8.RuneCountInString(s))
	for _, r := range s {
		id, ok := v.ID(r)
		if unknown != nil {
			unknown.add(r, ok)
		}
		out = append(out, id)
	}
	return out
}

// Parts are the characters of s.
func (v *Vocabulary) Parts(s string) []string {
	parts := make([]string, 0, utf8.RuneCountInString(s))
	for _, r := range s {
		parts = append(parts, string(r))
	}
	return parts
}

// Decode writes ids as text. Blank and SosEos leave nothing; Unk and ids outside the vocabulary leave U+FFFD.
func (v *Vocabulary) Decode(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		switch {
		case id == Blank || id == SosEos:
		case id < int32(len(specials)) || int(id) >= v.Size():
			b.WriteRune(replacement)
		default:
			b.WriteRune(v.chars[int(id)-len(specials)])
		}
	}
	return b.String()
}

// String is "40 characters", the specials among them.
func (v *Vocabulary) String() string { return fmt.Sprintf("%d characters", v.Size()) }

// Diff says how v, stored with a model, differs from the vocabulary in use now: nil if every id means the same.
func (v *Vocabulary) Diff(other Tokenizer) []string {
	now, ok := Bare(other).(*Vocabulary)
	if !ok {
		return []string{fmt.Sprintf("tokenizer: the model has %v, the data %v", v, other)}
	}
	var out []string
	if v.Size() != now.Size() {
		out = append(out, fmt.Sprintf("vocabulary size: the model has %d, the data %d", v.Size(), now.Size()))
	}
	for i := range min(len(v.chars), len(now.chars)) {
		if v.chars[i] != now.chars[i] {
			id := int32(i + len(specials))
			return append(out, fmt.Sprintf("vocabulary id %d: the model has %q (U+%04X), the data %q (U+%04X)",
				id, v.chars[i], v.chars[i], now.chars[i], now.chars[i]))
		}
	}
	return out
}

// vocabularyFile is the form on disk: the tokens in the order of their ids.
type vocabularyFile struct {
	Tokens []string `json:"tokens"`
}

// MarshalJSON writes {"tokens": ["<blank>", "<sos/eos>", "<unk>", " ", "a", ...]}: the place in the list is the id.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	f := vocabularyFile{Tokens: make([]string, v.Size())}
	for i := range f.Tokens {
		f.Tokens[i] = v.Token(int32(i))
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON writes. It refuses a list that doesn't start with the three specials,
// tokens that are not one code point, and tokens that stand twice.
func (v *Vocabulary) UnmarshalJSON(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("vocabulary: the text is not UTF-8")
	}
	var f vocabularyFile
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("vocabulary: not the expected JSON {\"tokens\": [...]}: %w", err)
	}
	if len(f.Tokens) < len(specials) || !slices.Equal(f.Tokens[:len(specials)], specials[:]) {
		return fmt.Errorf("vocabulary: the tokens must start with %q, but start with %q; ids of another program can't be used here",
			specials, f.Tokens[:min(len(f.Tokens), len(specials))])
	}
	chars := make([]rune, 0, len(f.Tokens))
	for i, t := range f.Tokens[len(specials):] {
		r, size := utf8.DecodeRuneInString(t)
		if t == "" || size != len(t) {
			return fmt.Errorf("vocabulary: token %d is %q, which is not one character (code point)", i+len(specials), t)
		}
		chars = append(chars, r)
	}
	n, err := NewVocabulary(chars)
	if err != nil {
		return err
	}
	*v = *n
	return nil
}

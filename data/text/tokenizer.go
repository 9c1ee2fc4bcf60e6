package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// The ids that every tokenizer starts with. The network's losses number Blank and SosEos as well, in a package that
// this one may not import; a test above both holds them equal.
const (
	Blank  int32 = 0 // the CTC blank
	SosEos int32 = 1 // start and end of a sentence, for the decoder only
	Unk    int32 = 2 // what no other token can write
)

// specials are the written names of the first ids.
var specials = [...]string{"<blank>", "<sos/eos>", "<unk>"}

// Tokenizer turns normalized texts into the ids of tokens and back. It never changes once made, and may be used by
// several goroutines.
type Tokenizer interface {
	// Size is the number of ids V, Blank, SosEos and Unk included.
	Size() int
	// Encode returns the ids of s. What no token can write becomes Unk; letters are counted in unknown, which may be nil.
	Encode(s string, unknown *Unknown) []int32
	// Parts are what of s each id that Encode returns stands for, in order: characters, or pieces as the tokenizer
	// rewrites them. A part of a character may be a single byte of it.
	Parts(s string) []string
	// Decode writes ids as text. Blank and SosEos leave nothing; Unk leaves a sign that no text has.
	Decode(ids []int32) string
	// Token is the written form of an id, with ▁ for a space that is a part of it; "" where there is no such id.
	Token(id int32) string
	// Diff says how the tokenizer, stored with a model, differs from the one in use now: nil if every id means the same.
	Diff(now Tokenizer) []string
	// String names the kind and the size.
	String() string

	json.Marshaler
}

// Stored is a tokenizer in JSON, nil as null. Characters are written as they were when there were no others.
type Stored struct{ Tokenizer }

// Bare is the tokenizer itself, where it may be wrapped for JSON.
func Bare(t Tokenizer) Tokenizer {
	if s, ok := t.(Stored); ok {
		return s.Tokenizer
	}
	return t
}

// MarshalJSON writes the tokenizer's own form.
func (s Stored) MarshalJSON() ([]byte, error) {
	if s.Tokenizer == nil {
		return []byte("null"), nil
	}
	return s.Tokenizer.MarshalJSON()
}

// UnmarshalJSON reads what the MarshalJSON of any tokenizer writes.
func (s *Stored) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		s.Tokenizer = nil
		return nil
	}
	var form struct{ Type string }
	if err := json.Unmarshal(b, &form); err != nil {
		return fmt.Errorf("tokenizer: %w", err)
	}
	var t interface {
		Tokenizer
		json.Unmarshaler
	}
	switch form.Type {
	case "":
		t = new(Vocabulary)
	case piecesType:
		t = new(Pieces)
	default:
		return fmt.Errorf("tokenizer: the type %q is unknown to this version of konkanitrain", form.Type)
	}
	if err := t.UnmarshalJSON(b); err != nil {
		return err
	}
	s.Tokenizer = t
	return nil
}

// Shown are the tokens that write something, in the order of their ids, so that they can be read (see [Show]): a space
// that is a part of a token is ▁, the space alone "(space)".
func Shown(t Tokenizer) (list []string) {
	for id := Unk + 1; int(id) < t.Size(); id++ {
		token := Show(t.Token(id))
		switch n := len(token) - 1; {
		case token == `" "`:
			token = "(space)"
		case token[0] == '"':
			token = unescaped.Replace(token[1:n])
		}
		list = append(list, token)
	}
	return list
}

// unescaped writes the quotation marks and backslashes of what was quoted as they are.
var unescaped = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"konkanitrain/data/text/sentencepiece"
	"konkanitrain/internal/words"
)

// MaxModel is the largest model of SentencePiece that is used, in bytes: as it is stored with every checkpoint, in text
// form, which is a third longer.
const MaxModel = 8 << 20

// Pieces is the Tokenizer of a model of SentencePiece. Of its pieces those that a text can have (normal, user-defined,
// single bytes) have the ids from 3 on, in the model's order: where the first three pieces of a model are <unk>, <s>
// and </s>, as they usually are, each piece has the id that it has in the model.
type Pieces struct {
	model *sentencepiece.Model
	file  []byte  // that it was read from
	ids   []int32 // by the model's
	own   []int   // the model's ids of len(specials) and up
	unk   int     // the model's id of what it doesn't know
}

// NewPieces reads the content of a model's file, NAME.model.
func NewPieces(file []byte) (*Pieces, error) {
	if len(file) > MaxModel {
		return nil, fmt.Errorf("the model has %d bytes, and is stored with every checkpoint: more than %d can't be used", len(file), MaxModel)
	}
	m, err := sentencepiece.Parse(file)
	if err != nil {
		return nil, err
	}
	p := &Pieces{model: m, file: bytes.Clone(file), ids: make([]int32, len(m.Pieces))}
	for id, piece := range m.Pieces {
		p.ids[id] = Unk
		switch piece.Kind {
		case sentencepiece.Normal, sentencepiece.UserDefined, sentencepiece.Byte:
			p.ids[id] = int32(len(specials) + len(p.own))
			p.own = append(p.own, id)
		case sentencepiece.Unknown:
			p.unk = id
		}
	}
	if len(p.own) == 0 {
		return nil, errors.New("the model of SentencePiece has no piece that a text can have")
	}
	return p, nil
}

// ReadPieces reads a model's file.
func ReadPieces(path string) (*Pieces, error) {
	if stat, err := os.Stat(path); err != nil {
		return nil, err
	} else if !stat.Mode().IsRegular() || stat.Size() > MaxModel {
		return nil, fmt.Errorf("%s is no file of at most %s: a model of SentencePiece is stored with every checkpoint", path, words.Binary(MaxModel))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := NewPieces(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// TrainBPE makes a tokenizer of size ids from normalized texts by byte pair encoding: see [sentencepiece.TrainBPE].
func TrainBPE(texts iter.Seq[string], size, minCharCount int) (*Pieces, error) {
	m, err := sentencepiece.TrainBPE(texts, size, minCharCount)
	if err != nil {
		return nil, err
	}
	return NewPieces(m.File())
}

// Size is the number of ids V, the specials included.
func (p *Pieces) Size() int { return len(specials) + len(p.own) }

// Token is the piece of an id, or <blank>, <sos/eos>, <unk>; "" where there is no such id.
func (p *Pieces) Token(id int32) string {
	switch {
	case id < 0 || int(id) >= p.Size():
		return ""
	case int(id) < len(specials):
		return specials[id]
	}
	return p.model.Pieces[p.own[int(id)-len(specials)]].Text
}

// Encode cuts a text as the model does. What no piece can write is one Unk, however long; the letters that are counted
// are those of the text as the model rewrites it.
func (p *Pieces) Encode(s string, unknown *Unknown) []int32 {
	parts := p.model.Encode(s)
	out := make([]int32, len(parts))
	for i, part := range parts {
		out[i] = p.ids[part.ID]
		if unknown == nil {
			continue
		}
		for _, c := range []byte(part.Text) {
			if utf8.RuneStart(c) {
				unknown.Letters++
			}
		}
		unknown.Letters -= strings.Count(part.Text, sentencepiece.Space)
		if out[i] == Unk {
			unknown.outside(part.Text)
		}
	}
	return out
}

// Parts are the pieces of s as the model rewrites it.
func (p *Pieces) Parts(s string) []string {
	var parts []string
	for _, part := range p.model.Encode(s) {
		parts = append(parts, strings.ReplaceAll(part.Text, sentencepiece.Space, " "))
	}
	return parts
}

// Decode writes ids as the model does.
func (p *Pieces) Decode(ids []int32) string {
	own := make([]int, 0, len(ids))
	for _, id := range ids {
		switch {
		case id == Blank || id == SosEos:
		case id < int32(len(specials)) || int(id) >= p.Size():
			own = append(own, p.unk)
		default:
			own = append(own, p.own[int(id)-len(specials)])
		}
	}
	return p.model.Decode(own)
}

// String is "500 pieces (bpe)".
func (p *Pieces) String() string { return fmt.Sprintf("%d pieces (%v)", p.Size(), p.model.Algorithm) }

// Diff says how p, stored with a model, differs from the tokenizer in use now.
func (p *Pieces) Diff(other Tokenizer) []string {
	now, ok := Bare(other).(*Pieces)
	if !ok || p.Size() != now.Size() {
		return []string{fmt.Sprintf("tokenizer: the model has %v, the data %v", p, other)}
	}
	if bytes.Equal(p.file, now.file) {
		return nil
	}
	for id := range int32(p.Size()) {
		if a, b := p.Token(id), now.Token(id); a != b {
			return []string{fmt.Sprintf("tokenizer id %d: the model has %q, the data %q", id, a, b)}
		}
	}
	return []string{"tokenizer: the pieces are the same, and their scores or the rules around them are not"}
}

// piecesFile is the form in JSON.
type piecesFile struct {
	Type  string `json:"type"`
	Model []byte `json:"model"` // the file, in base64
}

const piecesType = "sentencepiece"

// MarshalJSON writes {"type": "sentencepiece", "model": the model's file in base64}.
func (p *Pieces) MarshalJSON() ([]byte, error) { return json.Marshal(piecesFile{piecesType, p.file}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Pieces) UnmarshalJSON(b []byte) error {
	var f piecesFile
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("tokenizer: not the expected JSON {\"type\": %q, \"model\": base64}: %w", piecesType, err)
	}
	n, err := NewPieces(f.Model)
	if err != nil {
		return fmt.Errorf("tokenizer: %w", err)
	}
	*p = *n
	return nil
}

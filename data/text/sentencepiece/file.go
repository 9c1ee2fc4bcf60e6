package sentencepiece

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of a model's file that are used (sentencepiece_model.proto).
const (
	modelPieces, modelTrainer, modelNormalizer, modelDenormalizer = 1, 2, 3, 5

	pieceText, pieceScore, pieceKind = 1, 2, 3

	trainerType, trainerVocabSize, trainerSuffix, trainerFallback, trainerUnknown = 3, 4, 24, 35, 44

	normalizerName, normalizerRules, normalizerPrefix, normalizerExtra, normalizerEscape = 1, 2, 3, 4, 5
)

// Parse reads a model's file.
func Parse(b []byte) (*Model, error) {
	m := &Model{Algorithm: Unigram, normalizer: defaultNormalizer(), unknownText: defaultUnknown}
	suffix := false
	err := fields(b, func(f field) (err error) {
		switch f.number {
		case modelPieces:
			err = m.readPiece(f)
		case modelTrainer:
			suffix, err = m.readTrainer(f, suffix)
		case modelNormalizer:
			err = m.normalizer.read(f)
		case modelDenormalizer:
			if m.denormalizer == nil {
				n := defaultNormalizer()
				m.denormalizer = &n
			}
			err = m.denormalizer.read(f)
		}
		return err
	})
	if err == nil {
		m.normalizer.suffix = suffix
		if d := m.denormalizer; d != nil && len(d.rules.units) == 0 {
			m.denormalizer = nil // the library takes none without rules
		}
		err = m.index()
	}
	if err != nil {
		return nil, fmt.Errorf("no model of SentencePiece: %w", err)
	}
	return m, nil
}

func defaultNormalizer() normalizer {
	return normalizer{dummyPrefix: true, removeExtraSpaces: true, escapeSpaces: true}
}

func (m *Model) readPiece(f field) error {
	p := Piece{Kind: Normal}
	err := f.message(func(f field) error {
		switch f.number {
		case pieceText:
			return f.text(&p.Text)
		case pieceScore:
			return f.float(&p.Score)
		case pieceKind:
			var kind uint64
			err := f.varint(&kind)
			p.Kind = Kind(min(kind, math.MaxUint8))
			return err
		}
		return nil
	})
	m.Pieces = append(m.Pieces, p)
	return err
}

func (m *Model) readTrainer(f field, suffix bool) (bool, error) {
	return suffix, f.message(func(f field) error {
		switch f.number {
		case trainerType:
			var n uint64
			err := f.varint(&n)
			m.Algorithm = Algorithm(min(n, math.MaxUint8))
			return err
		case trainerSuffix:
			return f.bool(&suffix)
		case trainerFallback:
			return f.bool(&m.fallback)
		case trainerUnknown:
			return f.text(&m.unknownText)
		}
		return nil
	})
}

func (n *normalizer) read(f field) error {
	return f.message(func(f field) (err error) {
		switch f.number {
		case normalizerRules:
			var b string
			if err = f.text(&b); err == nil {
				if n.rules, err = parseCharsmap([]byte(b)); err != nil {
					err = fmt.Errorf("the normalizer's precompiled_charsmap: %w", err)
				}
			}
		case normalizerPrefix:
			err = f.bool(&n.dummyPrefix)
		case normalizerExtra:
			err = f.bool(&n.removeExtraSpaces)
		case normalizerEscape:
			err = f.bool(&n.escapeSpaces)
		}
		return err
	})
}

// field is one field of a protocol buffer message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte // from its value on
}

// fields reads a message, field by field. Those that use doesn't know it passes over.
func fields(b []byte, use func(field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("damaged, or cut off: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return fmt.Errorf("field %d is damaged, or cut off: %w", number, protowire.ParseError(n))
		}
		if err := use(field{number, kind, b[:n]}); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (f field) is(kind protowire.Type) error {
	if f.kind != kind {
		return fmt.Errorf("field %d has wire type %d, want %d", f.number, f.kind, kind)
	}
	return nil
}

func (f field) message(use func(field) error) error {
	if err := f.is(protowire.BytesType); err != nil {
		return err
	}
	b, _ := protowire.ConsumeBytes(f.bytes)
	return fields(b, use)
}

func (f field) text(to *string) error {
	b, _ := protowire.ConsumeBytes(f.bytes)
	*to = string(b)
	return f.is(protowire.BytesType)
}

func (f field) float(to *float32) error {
	bits, _ := protowire.ConsumeFixed32(f.bytes)
	*to = math.Float32frombits(bits)
	return f.is(protowire.Fixed32Type)
}

func (f field) varint(to *uint64) error {
	*to, _ = protowire.ConsumeVarint(f.bytes)
	return f.is(protowire.VarintType)
}

func (f field) bool(to *bool) error {
	var n uint64
	err := f.varint(&n)
	*to = n != 0
	return err
}

// File is the form in which a model that TrainBPE has made is read again, by Parse and by SentencePiece.
func (m *Model) File() []byte {
	var b []byte
	message := func(to []byte, number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), content)
	}
	varint := func(to []byte, number protowire.Number, n int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), uint64(n))
	}
	for _, p := range m.Pieces {
		piece := message(nil, pieceText, []byte(p.Text))
		piece = protowire.AppendTag(piece, pieceScore, protowire.Fixed32Type)
		piece = protowire.AppendFixed32(piece, math.Float32bits(p.Score))
		if p.Kind != Normal {
			piece = varint(piece, pieceKind, int(p.Kind))
		}
		b = message(b, modelPieces, piece)
	}
	b = message(b, modelTrainer, varint(varint(nil, trainerType, int(m.Algorithm)), trainerVocabSize, len(m.Pieces)))
	return message(b, modelNormalizer, message(nil, normalizerName, []byte("identity")))
}

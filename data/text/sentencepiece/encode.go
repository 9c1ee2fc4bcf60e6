package sentencepiece

import (
	"strings"
	"unicode/utf8"
)

// Part is a piece of a text.
type Part struct {
	ID   int
	Text string // that it stands for, normalized, with ▁ for a space
}

// Encode cuts a text. What is unknown is one part, however long, or one for each of its bytes where the model falls
// back to these.
func (m *Model) Encode(s string) []Part {
	s = m.normalizer.normalize(s)
	if s == "" {
		return nil
	}
	var parts []Part
	switch m.Algorithm {
	case BPE:
		parts = m.encodeBPE(s)
	case Unigram:
		parts = m.encodeUnigram(s)
	case Word:
		for _, w := range splitWords(s) {
			parts = append(parts, Part{m.id(w), w})
		}
	case Char:
		for _, c := range m.characters(s) {
			parts = append(parts, Part{m.id(c.text), c.text})
		}
	}
	return m.unknowns(parts)
}

// unknowns joins neighbors that are unknown, or takes them apart into bytes.
func (m *Model) unknowns(parts []Part) []Part {
	out := make([]Part, 0, len(parts))
	for _, p := range parts {
		last := len(out) - 1
		switch {
		case p.ID != m.unknown:
			out = append(out, p)
		case m.fallback:
			for i := range len(p.Text) {
				out = append(out, Part{m.bytes[p.Text[i]], p.Text[i : i+1]})
			}
		case last >= 0 && out[last].ID == m.unknown:
			out[last].Text += p.Text
		default:
			out = append(out, p)
		}
	}
	return out
}

// splitWords cuts a text before each ▁.
func splitWords(s string) (words []string) {
	for s != "" {
		end := strings.Index(s[1:], Space) + 1
		if end == 0 {
			end = len(s)
		}
		words = append(words, s[:end])
		s = s[end:]
	}
	return words
}

// character is what encoding starts from: a character, or a symbol, which is never joined to another.
type character struct {
	text   string
	symbol bool
}

func (m *Model) characters(s string) []character {
	out := make([]character, 0, utf8.RuneCountInString(s))
	for s != "" {
		n := m.symbols.longest(s)
		symbol := n > 0
		if !symbol {
			_, n = utf8.DecodeRuneInString(s)
		}
		out = append(out, character{s[:n], symbol})
		s = s[n:]
	}
	return out
}

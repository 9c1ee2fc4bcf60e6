package sentencepiece

import (
	"strings"
	"unicode/utf8"
)

// Decode writes ids as text. The space that encoding puts before a text is taken away; bytes that aren't UTF-8 together
// become U+FFFD, one each. Ids that the model doesn't have are passed over.
func (m *Model) Decode(ids []int) string {
	var b strings.Builder
	var bytes []byte
	flush := func() {
		for len(bytes) > 0 {
			r, n := utf8.DecodeRune(bytes)
			b.WriteRune(r)
			bytes = bytes[n:]
		}
	}
	begun := false // a space at the start was taken away, or something stands there
	for _, id := range ids {
		if id < 0 || id >= len(m.Pieces) {
			continue
		}
		p := &m.Pieces[id]
		if p.Kind == Byte {
			c, _ := byteOf(p.Text)
			bytes = append(bytes, c)
			continue
		}
		flush()
		begun = begun || b.Len() > 0
		switch p.Kind {
		case Control:
			begun = false
		case Unknown:
			b.WriteString(m.unknownText)
			begun = false
		default:
			text := p.Text
			if n := &m.normalizer; !begun && (n.dummyPrefix || n.removeExtraSpaces) {
				after, taken := strings.CutPrefix(text, Space)
				text, begun = after, taken && !n.removeExtraSpaces
			} else {
				begun = false
			}
			b.WriteString(strings.ReplaceAll(text, Space, " "))
		}
	}
	flush()
	if m.denormalizer != nil {
		return m.denormalizer.normalize(b.String())
	}
	return b.String()
}

package sentencepiece

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// normalizer rewrites a text before it is cut.
type normalizer struct {
	rules             charsmap
	dummyPrefix       bool  // a space before the text
	removeExtraSpaces bool  // at the ends, and all but one between words
	escapeSpaces      bool  // as ▁
	suffix            bool  // the dummy prefix goes behind the text
	symbols           *trie // stay as they are; nil for none
}

func (n *normalizer) normalize(s string) string {
	if s == "" {
		return ""
	}
	if n.removeExtraSpaces {
		for s != "" {
			to, length := n.prefix(s)
			if to != " " {
				break
			}
			s = s[length:]
		}
		if s == "" {
			return ""
		}
	}
	space := " "
	if n.escapeSpaces {
		space = Space
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8 + 2*len(space))
	if n.dummyPrefix && !n.suffix {
		b.WriteString(space)
	}
	afterSpace := n.removeExtraSpaces
	for s != "" {
		to, length := n.prefix(s)
		s = s[length:]
		if afterSpace {
			to = strings.TrimLeft(to, " ")
		}
		if to != "" {
			afterSpace = n.removeExtraSpaces && strings.HasSuffix(to, " ")
			if n.escapeSpaces && strings.Contains(to, " ") {
				to = strings.ReplaceAll(to, " ", Space)
			}
			b.WriteString(to)
		}
	}
	out := b.String()
	if n.removeExtraSpaces {
		for strings.HasSuffix(out, space) {
			out = strings.TrimSuffix(out, space)
		}
	}
	if n.dummyPrefix && n.suffix {
		out += space
	}
	return out
}

// prefix is what the first characters of s become, and how many bytes they are: a symbol stays; the longest rule is
// applied; without one a character stays, and a byte that isn't UTF-8 becomes U+FFFD.
func (n *normalizer) prefix(s string) (to string, length int) {
	if length := n.symbols.longest(s); length > 0 {
		return s[:length], length
	}
	if to, length := n.rules.longest(s); length > 0 {
		return to, length
	}
	r, length := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && length == 1 {
		return string(utf8.RuneError), 1
	}
	return s[:length], length
}

// charsmap is a set of rules that replace characters: the compiled form that is in a model's file. It is a double-array
// trie (Aoe 1989) in the layout of the library darts-clone, whose values are places in a list of texts.
type charsmap struct {
	units []uint32
	texts string // each ends with a NUL
}

// parseCharsmap reads the compiled form: the size of the trie in bytes (32 bits, little-endian), its units, the texts.
func parseCharsmap(b []byte) (c charsmap, err error) {
	if len(b) == 0 {
		return c, nil
	}
	if len(b) <= 4 {
		return c, errors.New("it is shorter than its header")
	}
	size := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(size) >= uint64(len(b)) || size%4 != 0 || size == 0 {
		return c, fmt.Errorf("its trie is said to have %d bytes, with %d for trie and texts", size, len(b))
	}
	c.units = make([]uint32, size/4)
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if b = b[size:]; b[len(b)-1] != 0 {
		return c, errors.New("its last text has no end")
	}
	c.texts = string(b)
	for i, unit := range c.units {
		if v := unit &^ leaf; unit&leaf != 0 && uint64(v) >= uint64(len(b)) {
			return c, fmt.Errorf("entry %d of its trie is the text at byte %d, and there are %d bytes of texts", i, v, len(b))
		}
	}
	if bytes.IndexByte(b, 0) < 0 || !utf8.ValidString(c.texts) {
		return c, errors.New("its texts are not UTF-8")
	}
	return c, nil
}

// leaf marks the units that are values.
const leaf = 1 << 31

// longest finds the longest rule that s starts with: what stands for it, and how many bytes of s it takes; 0 for none.
func (c *charsmap) longest(s string) (to string, length int) {
	if len(c.units) == 0 {
		return "", 0
	}
	at, value := offset(c.units[0]), uint32(0)
	for i := range len(s) {
		at ^= uint32(s[i])
		if at >= uint32(len(c.units)) {
			break
		}
		unit := c.units[at]
		if unit&(leaf|0xff) != uint32(s[i]) {
			break
		}
		at ^= offset(unit)
		if unit>>8&1 == 1 && at < uint32(len(c.units)) {
			value, length = c.units[at]&^leaf, i+1
		}
	}
	if length == 0 || uint64(value) >= uint64(len(c.texts)) {
		return "", 0
	}
	end := strings.IndexByte(c.texts[value:], 0)
	return c.texts[value:][:end], length
}

// offset is how far from a unit its children are.
func offset(unit uint32) uint32 { return unit >> 10 << (unit >> 9 & 1 << 3) }

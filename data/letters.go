package data

import (
	"unicode/utf8"
	"unsafe"

	"konkanitrain/data/text"
)

// letters packs texts that are UTF-8: the first 255 characters that come take a byte each, all others their UTF-8
// behind a mark. A script takes two or three bytes a character in UTF-8, and has fewer than a hundred of them.
type letters struct {
	known []rune        // by their codes
	codes [1 << 16]byte // of the known characters, plus 1; 0 is none
}

// otherLetter is the mark before a character without a code.
const otherLetter = 255

// pack appends s to b.
func (l *letters) pack(b []byte, s string) []byte {
	for _, r := range s {
		if r < 1<<16 {
			code := l.codes[r]
			if code == 0 && len(l.known) < otherLetter {
				l.known = append(l.known, r)
				code = byte(len(l.known))
				l.codes[r] = code
			}
			if code != 0 {
				b = append(b, code-1)
				continue
			}
		}
		b = utf8.AppendRune(append(b, otherLetter), r)
	}
	return b
}

// unpack is the text that b was packed of.
func (l *letters) unpack(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	s := make([]byte, 0, 3*len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != otherLetter {
			s = utf8.AppendRune(s, l.known[b[i]])
			continue
		}
		r, n := utf8.DecodeRune(b[i+1:])
		s = utf8.AppendRune(s, r)
		i += n
	}
	return unsafe.String(&s[0], len(s))
}

// startsWithMark is text.StartsWithMark of the text that b was packed of.
func (l *letters) startsWithMark(b []byte) bool {
	switch {
	case len(b) == 0:
		return false
	case b[0] == otherLetter:
		return text.StartsWithMark(string(b[1:]))
	}
	return text.StartsWithMark(string(l.known[b[0]]))
}

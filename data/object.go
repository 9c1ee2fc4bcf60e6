package data

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// member is a key of a JSON object with its value as it is written, without space around it.
type member struct{ key, value string }

// object is the members of a JSON object; no key stands in it twice.
type object []member

// get is the value of a key; "" where there is no such key.
func (o object) get(key string) string {
	for i := range o {
		if o[i].key == key {
			return o[i].value
		}
	}
	return ""
}

func (o object) has(key string) bool { return o.get(key) != "" }

// keys lists the keys for a message.
func (o object) keys() string {
	if len(o) == 0 {
		return "none"
	}
	list := make([]string, len(o))
	for i := range o {
		list[i] = o[i].key
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// scanObject splits a line that is one plain JSON object (RFC 8259) into its members, in into's memory where that
// suffices. plain is false of a line that is something else, or not whole, and also where a key has an escape or stands
// twice, where there are many keys or values are deeply nested: encoding/json is asked then.
func scanObject(line string, into object) (o object, plain bool) {
	s := scanner{line: line}
	s.space()
	if !s.byte('{') {
		return nil, false
	}
	s.space()
	if s.byte('}') {
		s.space()
		return into, s.at == len(line)
	}
	for {
		from := s.at
		if !s.text() {
			return nil, false
		}
		key := line[from+1 : s.at-1]
		if strings.IndexByte(key, '\\') >= 0 || len(into) == 64 || into.has(key) {
			return nil, false
		}
		s.space()
		if !s.byte(':') {
			return nil, false
		}
		s.space()
		from = s.at
		if !s.value(0) {
			return nil, false
		}
		into = append(into, member{key, line[from:s.at]})
		s.space()
		if s.byte(',') {
			s.space()
			continue
		}
		if !s.byte('}') {
			return nil, false
		}
		s.space()
		return into, s.at == len(line)
	}
}

// scanner goes through a line that is UTF-8; each method says whether what it goes over is there.
type scanner struct {
	line string
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.line) {
		switch s.line[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) byte(c byte) bool {
	if s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	return false
}

// text is a string in quotes.
func (s *scanner) text() bool {
	if !s.byte('"') {
		return false
	}
	for s.at < len(s.line) {
		switch c := s.line[s.at]; {
		case c == '"':
			s.at++
			return true
		case c < ' ':
			return false
		case c == '\\':
			if s.at+1 >= len(s.line) {
				return false
			}
			switch s.line[s.at+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				s.at += 2
			case 'u':
				if _, ok := hex4(s.line[s.at:]); !ok {
					return false
				}
				s.at += 6
			default:
				return false
			}
		default:
			s.at++
		}
	}
	return false
}

// value is any value.
func (s *scanner) value(depth int) bool {
	if s.at == len(s.line) || depth > 64 {
		return false
	}
	switch c := s.line[s.at]; c {
	case '"':
		return s.text()
	case '{':
		return s.nested('}', depth)
	case '[':
		return s.nested(']', depth)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// nested is an object or an array.
func (s *scanner) nested(end byte, depth int) bool {
	s.at++
	s.space()
	if s.byte(end) {
		return true
	}
	for {
		if end == '}' {
			if !s.text() {
				return false
			}
			s.space()
			if !s.byte(':') {
				return false
			}
			s.space()
		}
		if !s.value(depth + 1) {
			return false
		}
		s.space()
		if s.byte(end) {
			return true
		}
		if !s.byte(',') {
			return false
		}
		s.space()
	}
}

func (s *scanner) word(w string) bool {
	if strings.HasPrefix(s.line[s.at:], w) {
		s.at += len(w)
		return true
	}
	return false
}

func (s *scanner) number() bool {
	s.byte('-')
	if !s.byte('0') && !s.digits() {
		return false
	}
	if s.byte('.') && !s.digits() {
		return false
	}
	if s.byte('e') || s.byte('E') {
		if !s.byte('+') {
			s.byte('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.line) && '0' <= s.line[s.at] && s.line[s.at] <= '9' {
		s.at++
	}
	return s.at > from
}

// hex4 reads an escape of four hexadecimal digits at the start of s, such as \u0915.
func hex4(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// unescape is the text of a JSON string without its quotes, whose escapes are good; false where one is half of a
// surrogate pair.
func unescape(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return string(append(b, s...)), true
		}
		b = append(b, s[:i]...)
		if s = s[i:]; s[1] != 'u' {
			b = append(b, short(s[1]))
			s = s[2:]
			continue
		}
		r, _ := hex4(s)
		s = s[6:]
		if utf16.IsSurrogate(r) {
			low, ok := hex4(s)
			if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
				return "", false
			}
			s = s[6:]
		}
		b = utf8.AppendRune(b, r)
	}
}

// short is what an escape of one letter stands for.
func short(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decode removes the byte-order mark, turns UTF-16 into UTF-8 (the note says so; else it is ""), and makes \n of the
// line ends of a file that has nothing but \r, as old Macs and some spreadsheets write it.
func decode(path string, b []byte) (_ []byte, note string, err error) {
	if order := utf16Order(b); order != nil {
		if len(b)%2 != 0 {
			return nil, "", fmt.Errorf("manifest %s: UTF-16 (%s) with an odd number of bytes, %d: the file was cut; save it again, as UTF-8",
				path, orderName(order), len(b))
		}
		b = fromUTF16(b, order)
		note = fmt.Sprintf("%s is UTF-16 (%s) and was read as such; UTF-8 is usual", filepath.Base(path), orderName(order))
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !bytes.ContainsRune(b, '\n') {
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	}
	return b, note, nil
}

// fromUTF16 is UTF-16 as UTF-8. Half of a surrogate pair becomes U+FFFD.
func fromUTF16(b []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(b))
	for ; len(b) >= 2; b = b[2:] {
		r := rune(order.Uint16(b))
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if len(b) >= 4 {
				low = rune(order.Uint16(b[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				b = b[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// utf16Order recognizes UTF-16 by its byte-order mark, or by a zero byte beside the first character, which is
// ASCII in every manifest. nil means: not UTF-16.
func utf16Order(b []byte) binary.ByteOrder {
	switch {
	case len(b) < 2:
		return nil
	case b[0] == 0xff && b[1] == 0xfe, b[0] != 0 && b[1] == 0:
		return binary.LittleEndian
	case b[0] == 0xfe && b[1] == 0xff, b[0] == 0 && b[1] != 0:
		return binary.BigEndian
	}
	return nil
}

func orderName(o binary.ByteOrder) string {
	if o == binary.BigEndian {
		return "big-endian"
	}
	return "little-endian"
}

// notText says where s stops being UTF-8 text; "" if it doesn't.
func notText(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return ""
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0:
			return fmt.Sprintf("byte %d is NUL (0), as in blocks that a crash or a full disk left unwritten; remove the zeros", i+1)
		case r == utf8.RuneError && n == 1:
			return fmt.Sprintf("byte %d (0x%02X) is not UTF-8; save the file as UTF-8", i+1, s[i])
		}
		i += n
	}
	return ""
}

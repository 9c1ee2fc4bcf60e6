package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readText reads a text file and decodes it.
func readText(path string) (b []byte, note string, err error) {
	b, err = os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("manifest: %w", err)
	}
	return decode(path, b)
}

// decode removes the byte-order mark and turns UTF-16 into UTF-8; the note says so, or is "".
func decode(path string, b []byte) (_ []byte, note string, err error) {
	if rest, ok := bytes.CutPrefix(b, []byte("\xef\xbb\xbf")); ok {
		return rest, "", nil
	}
	order := utf16Order(b)
	if order == nil {
		return b, "", nil
	}
	if len(b)%2 != 0 {
		return nil, "", fmt.Errorf("manifest %s: UTF-16 (%s) with an odd number of bytes, %d: the file was cut; save it again, as UTF-8", path, orderName(order), len(b))
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	s := strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff")
	return []byte(s), fmt.Sprintf("%s is UTF-16 (%s) and was read as such; UTF-8 is usual", filepath.Base(path), orderName(order)), nil
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

// lines calls use with each line that isn't blank, without its line end, and its number from 1 on. Blank lines
// have numbers too.
func lines(b []byte, use func(number int, line string)) {
	number := 0
	for line := range bytes.Lines(b) {
		number++
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			use(number, string(line))
		}
	}
}

// notUTF8 says where s stops being UTF-8; "" if it doesn't.
func notUTF8(s string) string {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("byte %d (0x%02X) is not UTF-8; save the file as UTF-8", i+1, s[i])
		}
		i += n
	}
	return ""
}

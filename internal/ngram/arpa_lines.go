package ngram

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// mostLine is the longest line of an ARPA file, in bytes.
const mostLine = 1 << 20

// lines is a text that is read line by line.
type lines struct {
	name   string // of the file, for messages
	reader *bufio.Reader
	number int    // of the line, from 1 on
	text   []byte // the line without its end, good until the next
	end    bool   // there are no more
}

// newLines reads a text, or one that is compressed with gzip, by its first bytes.
func newLines(name string, r io.Reader) (*lines, error) {
	l := &lines{name: name, reader: bufio.NewReaderSize(r, mostLine)}
	head, err := l.reader.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) { // RFC 1952
		z, err := gzip.NewReader(l.reader)
		if err != nil {
			return nil, fmt.Errorf("%s: it begins as a gzip file, and is none: %w", name, err)
		}
		l.reader = bufio.NewReaderSize(z, mostLine)
		if head, err = l.reader.Peek(64); err != nil && !errors.Is(err, io.EOF) {
			return nil, l.failed(err)
		}
	}
	return l, notARPA(name, head)
}

// notARPA is an error where a file begins as one of another kind.
func notARPA(name string, head []byte) error {
	for start, what := range map[string]string{
		"mmap lm http://kheafield.com/code": "a binary of kenlm, of which there are many kinds: give the ARPA file that build_binary made it of",
		"blmt":                              "a binary of IRSTLM: compile-lm --text yes makes an ARPA file of it",
		"iARPA":                             "an iARPA file of IRSTLM: compile-lm --text yes makes an ARPA file of it",
		"BZh":                               "compressed with bzip2: unpack it, or compress it with gzip",
		"\xfd7zXZ\x00":                      "compressed with xz: unpack it, or compress it with gzip",
		"\x28\xb5\x2f\xfd":                  "compressed with Zstandard: unpack it, or compress it with gzip",
		"PK\x03\x04":                        "a zip archive: unpack it, or compress it with gzip",
		"\xff\xfe":                          "UTF-16: save it as UTF-8",
		"\xfe\xff":                          "UTF-16: save it as UTF-8",
	} {
		if bytes.HasPrefix(head, []byte(start)) {
			return fmt.Errorf("%s is no ARPA file, but %s", name, what)
		}
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return fmt.Errorf("%s is no ARPA file: byte %d is 0, so it is no text", name, i+1)
	}
	return nil
}

// next goes to the next line that isn't blank; at the end of the text there is none.
func (l *lines) next() error {
	for {
		line, err := l.reader.ReadSlice('\n')
		if len(line) > 0 || err == nil {
			l.number++
		}
		if l.number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		l.text = bytes.Trim(line, " \t\r\n")
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return l.errorf("the line has more than %d bytes", mostLine)
		case err != nil && !errors.Is(err, io.EOF):
			return l.failed(err)
		case len(l.text) > 0:
			return nil
		case err != nil:
			l.end = true
			return nil
		}
	}
}

// failed is the error of a text that can't be read on.
func (l *lines) failed(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the file was cut: it ends in the middle of what gzip compressed, behind line %d", l.name, l.number)
	}
	return fmt.Errorf("%s, behind line %d: %w", l.name, l.number, err)
}

// errorf is an error about the line.
func (l *lines) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.name, l.number, fmt.Errorf(format, args...))
}

// field cuts the first field off a line: fields are separated by spaces and tabs.
func field(line []byte) (first, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	if i := bytes.IndexAny(line, " \t"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

package data

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
)

// headBytes is how much of a text file is looked at before its form is known.
const headBytes = 64 << 10

// textFile is a text that is read from its start to its end: UTF-8 without a byte-order mark, with line ends that have
// a \n. What isn't UTF-8, or has no \n at all, is held as a whole; everything else goes by.
type textFile struct {
	*bufio.Reader
	path string
	note string // what was odd about its encoding; "" if nothing was
	head []byte // its first bytes, headBytes of them where it has so many

	file  *os.File // nil where the text is in memory
	bytes int64    // of the text, as far as it was read
}

// openText opens a text file, to be closed.
func openText(path string) (*textFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	t, err := newText(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.file = f
	return t, nil
}

// newText reads the start of a text, or all of it where that can't be helped.
func newText(path string, r io.Reader) (*textFile, error) {
	t := &textFile{path: path}
	head, err := io.ReadAll(io.LimitReader(r, headBytes))
	for whole := false; err == nil && !whole && needsMore(head); {
		more, e := io.ReadAll(io.LimitReader(r, int64(len(head))))
		head, err, whole = append(head, more...), e, len(more) == 0
	}
	if err == nil && utf16Order(head) != nil {
		var rest []byte
		rest, err = io.ReadAll(r)
		head = append(head, rest...)
	}
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if how := compressed(path, head); how != "" {
		return nil, fmt.Errorf("manifest %s: it is %s", path, how)
	}
	if t.head, t.note, err = decode(path, head); err != nil {
		return nil, err
	}
	t.Reader = bufio.NewReaderSize(io.TeeReader(io.MultiReader(bytes.NewReader(t.head), r), (*counter)(&t.bytes)), headBytes)
	return t, nil
}

// needsMore says that the start of a text doesn't show its line ends yet, or is nothing but zeros.
func needsMore(head []byte) bool {
	if utf16Order(head) != nil || len(head) < headBytes {
		return false
	}
	return !bytes.ContainsRune(head, '\n') || len(bytes.TrimLeft(head, "\x00\r\n\t ")) == 0
}

func (t *textFile) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// line reads the first line that isn't blank, without its line end, and its number from 1 on; the number is 0 at the
// end of the text.
func (t *textFile) line() (number int, line string, err error) {
	for {
		b, err := t.ReadBytes('\n')
		if err != nil && err != io.EOF || len(b) == 0 {
			if err == io.EOF {
				err = nil
			}
			return 0, "", err
		}
		number++
		if b = bytes.TrimRight(b, "\r\n"); len(bytes.TrimSpace(b)) > 0 {
			return number, string(b), nil
		}
	}
}

// blockBytes is about how many bytes of lines are parsed at a time.
const blockBytes = 128 << 10

// block reads some whole lines; it is empty at the end of the text.
func (t *textFile) block() ([]byte, error) {
	b := make([]byte, blockBytes, blockBytes+1024)
	n, err := io.ReadFull(t, b)
	b = b[:n]
	if err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		return b, err
	}
	for err == nil && b[len(b)-1] != '\n' {
		var more []byte
		more, err = t.ReadSlice('\n')
		b = append(b, more...)
		if err == bufio.ErrBufferFull {
			err = nil
		}
	}
	if err == io.EOF {
		err = nil
	}
	return b, err
}

package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"konkanitrain/data/audio"

	"github.com/parquet-go/parquet-go/format"
)

// places is where sound lies in a Parquet file.
type places struct {
	file  file
	pages []page
	last  lastPage
}

// cell is the sound in a row.
type cell struct {
	places *places
	path   string // as the row has it, "" for none
	row    int32  // from 1
	page   int32
	extent
}

func (c *cell) Name() string {
	name := fmt.Sprintf("%s: row %d", c.places.file.path, c.row)
	if c.path != "" {
		name += " (" + c.path + ")"
	}
	return name
}

// Open reads as little as the compression allows: the value alone, the pieces of its page that it lies in, or the page.
func (c *cell) Open() (audio.Bytes, error) {
	p := &c.places.pages[c.page]
	if p.codec == format.Uncompressed {
		s := span{&c.places.file, "", p.at + int64(c.at), int64(c.size)}
		return s.Open()
	}
	b, err := c.places.value(c.page, c.extent)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return openMemory{bytes.NewReader(b)}, nil
}

// value decompresses the bytes of a value.
func (t *places) value(number int32, e extent) ([]byte, error) {
	p := &t.pages[number]
	if p.cuts == nil {
		return t.last.value(t, number, e)
	}
	first, last := covering(p.cuts, uint32(e.at), uint32(e.at+e.size))
	from, to := p.cuts[first], p.cuts[last]
	packed, err := t.read(p.at+int64(from.packed), int(to.packed-from.packed))
	if err != nil || e.size == 0 {
		return nil, err
	}
	plain, err := decodePieces(packed, to.plain-from.plain)
	if err != nil {
		return nil, err
	}
	at := uint32(e.at) - from.plain
	return plain[at : at+uint32(e.size)], nil
}

func (t *places) read(at int64, n int) ([]byte, error) {
	h, err := t.file.open()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	b := make([]byte, n)
	if _, err := h.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// lastPage is the page that was decompressed last, of those that can't be in parts: neighbors are often read in turn.
type lastPage struct {
	mu     sync.Mutex
	bytes  []byte
	number int32
}

func (l *lastPage) value(t *places, number int32, e extent) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes == nil || l.number != number {
		p := &t.pages[number]
		packed, err := t.read(p.at, int(p.packed))
		if err != nil {
			return nil, err
		}
		l.bytes = nil // let go of, before the next is made
		if l.bytes, err = decompress(p.codec, packed, int(p.size)); err != nil {
			return nil, err
		}
		l.number = number
	}
	return bytes.Clone(l.bytes[e.at : e.at+e.size]), nil
}

package archive

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// decodeThrift decodes a struct of the compact protocol at the start of b into v and returns the bytes that it took.
func decodeThrift(b []byte, v any) (int, error) {
	n, err := sizeThrift(b)
	if err != nil {
		return 0, err
	}
	var protocol thrift.CompactProtocol
	return n, thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(v)
}

var errThrift = errors.New("damaged metadata")

// sizeThrift walks over a struct of Thrift's compact protocol without keeping anything. The decoder takes memory for as
// many elements as a list claims; this makes sure that they are there.
func sizeThrift(b []byte) (int, error) {
	w := walker{b: b}
	w.structure(0)
	if w.bad {
		return 0, errThrift
	}
	return w.at, nil
}

type walker struct {
	b   []byte
	at  int
	bad bool
}

// deepest is how far structures may nest; Parquet's own go 6 deep.
const deepest = 32

func (w *walker) byte() byte {
	if w.bad || w.at >= len(w.b) {
		w.bad = true
		return 0
	}
	w.at++
	return w.b[w.at-1]
}

func (w *walker) varint() uint64 {
	v, n := binary.Uvarint(w.b[min(w.at, len(w.b)):])
	if n <= 0 {
		w.bad = true
		return 0
	}
	w.at += n
	return v
}

func (w *walker) skip(n uint64) {
	if n > uint64(len(w.b)-w.at) {
		w.bad = true
		return
	}
	w.at += int(n)
}

func (w *walker) structure(depth int) {
	for !w.bad {
		head := w.byte()
		if head == 0 {
			return
		}
		if head>>4 == 0 {
			w.varint() // the field's number
		}
		if kind := head & 15; kind > 2 { // 1 and 2 are true and false, which have no bytes
			w.value(kind, depth)
		}
	}
}

func (w *walker) value(kind byte, depth int) {
	if depth > deepest {
		w.bad = true
	}
	if w.bad {
		return
	}
	switch kind {
	case 1, 2, 3:
		w.skip(1)
	case 4, 5, 6:
		w.varint()
	case 7:
		w.skip(8)
	case 8:
		w.skip(w.varint())
	case 9, 10:
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.varint()
		}
		if n > uint64(len(w.b)-w.at) {
			w.bad = true
		}
		for ; n > 0 && !w.bad; n-- {
			w.value(head&15, depth+1)
		}
	case 11:
		n := w.varint()
		if n == 0 {
			return
		}
		if n > uint64(len(w.b)-w.at) {
			w.bad = true
		}
		kinds := w.byte()
		for ; n > 0 && !w.bad; n-- {
			w.value(kinds>>4, depth+1)
			w.value(kinds&15, depth+1)
		}
	case 12:
		w.structure(depth + 1)
	default:
		w.bad = true
	}
}

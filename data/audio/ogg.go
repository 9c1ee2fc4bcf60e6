package audio

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Flags of an Ogg page (RFC 3533, section 6).
const (
	oggContinued = 1 // starts with the rest of a packet
	oggFirst     = 2 // of a stream
	oggLast      = 4
)

// oggPage is a page of an Ogg stream.
type oggPage struct {
	flags   byte
	granule int64 // position at the end of the last packet that ends on the page; -1: none does
	serial  uint32
	number  uint32
	sizes   []byte // of the segments
	body    []byte
	size    int // bytes with the header
}

// readPage reads the page at byte at. It is io.EOF at the end of the file, and errNoPage where no whole page is.
func readPage(w *window, at int64, check bool) (p oggPage, err error) {
	b, err := w.bytes(at, 27+255)
	switch {
	case err != nil:
		return p, err
	case len(b) == 0:
		return p, io.EOF
	case len(b) < 27 || !starts(b, "OggS") || b[4] != 0 || len(b) < 27+int(b[26]):
		return p, errNoPage
	}
	p.size = 27 + int(b[26])
	for _, n := range b[27:p.size] {
		p.size += int(n)
	}
	if b, err = w.bytes(at, p.size); err != nil {
		return p, err
	}
	if len(b) < p.size {
		return p, errNoPage
	}
	head := 27 + int(b[26])
	p.flags = b[5]
	p.granule = int64(binary.LittleEndian.Uint64(b[6:]))
	p.serial, p.number = binary.LittleEndian.Uint32(b[14:]), binary.LittleEndian.Uint32(b[18:])
	p.sizes, p.body = b[27:head], b[head:]
	if check {
		sum := oggCRC(oggCRC(oggCRC(0, b[:22]), make([]byte, 4)), b[26:])
		if sum != binary.LittleEndian.Uint32(b[22:]) {
			return p, fmt.Errorf("the Ogg page at byte %d has a wrong checksum: damaged", at)
		}
	}
	return p, nil
}

var errNoPage = fmt.Errorf("no whole Ogg page")

// packets calls use with each packet that ends on the page, and how many bytes of the page are its, and once more with
// what is left of the page and false.
func (p *oggPage) packets(use func(piece []byte, ends bool) error) error {
	at, from := 0, 0
	for _, n := range p.sizes {
		if at += int(n); n < 255 {
			if err := use(p.body[from:at], true); err != nil {
				return err
			}
			from = at
		}
	}
	if from < at {
		return use(p.body[from:at], false)
	}
	return nil
}

// oggCRC is the checksum of RFC 3533: 0x04c11db7, the highest bit first, from 0.
func oggCRC(sum uint32, b []byte) uint32 {
	for _, c := range b {
		sum = sum<<8 ^ oggTable[byte(sum>>24)^c]
	}
	return sum
}

var oggTable = func() (t [256]uint32) {
	for i := range t {
		v := uint32(i) << 24
		for range 8 {
			v = v<<1 ^ v>>31*0x04c11db7
		}
		t[i] = v
	}
	return t
}()

// oggPackets puts the packets of one stream together, page by page.
type oggPackets struct {
	w      *window
	at     int64 // of the next page
	serial uint32
	ready  [][]byte // packets that are whole
	next   int      // of ready
	rest   []byte   // of a packet that goes on
	inside bool     // rest is its start; else it was begun before the first page and is left out
	page   []byte   // the bytes that ready lies in
}

// packet is the next packet, io.EOF behind the last.
func (p *oggPackets) packet() ([]byte, error) {
	for p.next == len(p.ready) {
		if err := p.more(); err != nil {
			return nil, err
		}
	}
	p.next++
	return p.ready[p.next-1], nil
}

// more reads the next page.
func (p *oggPackets) more() error {
	page, err := readPage(p.w, p.at, true)
	if err == errNoPage {
		err = io.EOF // the probe has said what is behind the last whole page
	}
	if err != nil {
		return err
	}
	if page.serial != p.serial {
		return fmt.Errorf("the Ogg page at byte %d is of another stream", p.at)
	}
	p.at += int64(page.size)
	p.ready, p.next = p.ready[:0], 0
	p.page = append(p.page[:0], page.body...) // the window may move
	page.body = p.page
	skip := page.flags&oggContinued != 0 && !p.inside // the rest of a packet whose start wasn't seen
	return page.packets(func(piece []byte, ends bool) error {
		if skip {
			skip = false
			return nil
		}
		if len(p.rest) > 0 {
			piece = append(p.rest, piece...)
			p.rest = nil
		}
		if p.inside = !ends; ends {
			p.ready = append(p.ready, piece)
		} else {
			p.rest = append([]byte(nil), piece...)
		}
		return nil
	})
}

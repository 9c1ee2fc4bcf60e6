package audio

import (
	"encoding/binary"
	"fmt"
	"io"

	"konkanitrain/internal/words"
)

// flacStream is a native FLAC file (RFC 9639).
type flacStream struct {
	rate, channels, bits int

	stride     int   // samples of each block but the last, where frames are numbered and not their samples
	start, end int64 // of the frames, in bytes
	samples    int64
}

func (s *flacStream) append(b []byte) []byte {
	b = append(b, byte(isFLAC))
	for _, v := range []int64{int64(s.rate), int64(s.channels), int64(s.bits), int64(s.stride), s.start, s.end, s.samples} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

func parseFLAC(p *parser) *flacStream {
	s := &flacStream{rate: p.int(), channels: p.int(), bits: p.int(), stride: p.int()}
	s.start, s.end, s.samples = int64(p.int()), int64(p.int()), int64(p.int())
	if s.channels < 1 || s.channels > 8 || s.bits < 4 || s.bits > 32 {
		p.bad = true
	}
	return s
}

// readStreamInfo reads what STREAMINFO says (RFC 9639, section 8.2): 18 bytes, and 16 of a checksum that isn't used.
// total is the number of samples, 0 where the encoder didn't know it.
func (s *flacStream) readStreamInfo(b []byte) (total int64, err error) {
	low, high := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	v := binary.BigEndian.Uint64(b[10:])
	s.rate, s.channels, s.bits = int(v>>44), int(v>>41&7)+1, int(v>>36&31)+1
	if low == high {
		s.stride = int(low)
	}
	if s.bits < 4 || s.rate == 0 {
		return 0, fmt.Errorf("the FLAC header gives %d bits and a rate of %d Hz", s.bits, s.rate)
	}
	return int64(v & (1<<36 - 1)), nil
}

// readFLAC finds where the frames of one file start, and where the last whole one ends: its number tells how many
// samples there are, whatever STREAMINFO says. total is what STREAMINFO says, 0 where the encoder didn't know it.
func readFLAC(src io.ReaderAt, start, size int64, info *Info) (s *flacStream, total int64, err error) {
	s = &flacStream{}
	at, total := start+4, int64(-1)
	for last := false; !last; {
		var b [4 + 34]byte
		n, err := src.ReadAt(b[:min(int64(len(b)), max(size-at, 0))], at)
		if err != nil && err != io.EOF {
			return nil, 0, fmt.Errorf("reading the header: %w", err)
		}
		if n < 4 {
			return nil, 0, fmt.Errorf("the FLAC header ends after %d bytes; the file is cut off (%w)", size, ErrNoSamples)
		}
		length := int64(b[1])<<16 | int64(b[2])<<8 | int64(b[3])
		if kind := b[0] & 0x7f; total < 0 && (kind != 0 || length != 34 || n < 22) || kind == 127 {
			return nil, 0, fmt.Errorf("the FLAC header is damaged at byte %d", at)
		}
		if total < 0 {
			if total, err = s.readStreamInfo(b[4:]); err != nil {
				return nil, 0, err
			}
		}
		last = b[0]&0x80 != 0
		at += 4 + length
	}
	info.Rate, info.Channels, info.Format = s.rate, s.channels, fmt.Sprintf("FLAC, %d bit", s.bits)
	s.start = at
	if err := s.findEnds(src, size); err != nil {
		return nil, 0, err
	}
	rest := size - skipTags(src, s.end, size)
	switch {
	case total > s.samples:
		info.warn("cut off: the header declares %s, there are %d", words.Count(int(total), "sample"), s.samples)
	case total > 0 && total < s.samples:
		info.warn("the header declares %s, there are %d; read to the end", words.Count(int(total), "sample"), s.samples)
	}
	if rest > 0 && total <= s.samples {
		info.warn("the last %d bytes are no whole FLAC frame; read without them", rest)
	}
	info.Samples = int(s.samples)
	return s, total, nil
}

// findEnds looks at the first and at the last frame.
func (s *flacStream) findEnds(src io.ReaderAt, size int64) error {
	w := &window{src: src, size: size}
	b, err := w.bytes(s.start, flacHeaderBytes)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return fmt.Errorf("a FLAC header but no sound in %d bytes (%w)", size, ErrNoSamples)
	}
	h, ok := readFLACHeader(b)
	if !ok || !s.fits(&h) {
		return fmt.Errorf("no FLAC frame of the header's %d Hz, %s and %d bits at byte %d: damaged",
			s.rate, words.Count(s.channels, "channel"), s.bits, s.start)
	}
	if s.stride == 0 {
		s.stride = h.block
	}
	// Headers from the end of the file towards its start, until one has a whole frame: the last or, where the file is
	// cut off, the one before. A few more may be sound that looks like a header.
	tries := 16
	for hi := size; hi > s.start; {
		lo := max(s.start, hi-pieceBytes)
		b, err := w.bytes(lo, int(min(hi+flacHeaderBytes, size)-lo))
		if err != nil {
			return err
		}
		for i := int(hi-lo) - 1; i >= 0; i-- {
			if b[i] != 0xff {
				continue
			}
			h, ok := readFLACHeader(b[i:])
			if !ok || !s.fits(&h) {
				continue
			}
			if tries--; tries < 0 {
				return fmt.Errorf("no whole FLAC frame at the end of %d bytes: damaged", size)
			}
			end, err := s.frameEnd(w, lo+int64(i), &h, size)
			if err != nil {
				return err
			}
			if end > 0 {
				s.end, s.samples = end, s.first(&h)+int64(h.block)
				if s.samples/65536 > s.end-s.start {
					return fmt.Errorf("%d samples in %d bytes of FLAC frames can't be: damaged", s.samples, s.end-s.start)
				}
				return nil
			}
			if b, err = w.bytes(lo, len(b)); err != nil { // the window has moved
				return err
			}
		}
		hi = lo
	}
	return fmt.Errorf("a FLAC header but no whole frame in %d bytes (%w)", size, ErrNoSamples)
}

// frameEnd is where the last frame ends that starts at at, 0 if it isn't whole: the file's end, or before tags
// that were put there, wherever the checksum is right and the frame can be decoded.
func (s *flacStream) frameEnd(w *window, at int64, h *flacHeader, size int64) (int64, error) {
	b, err := w.bytes(at, int(min(size-at, s.frameBytes(h))))
	if err != nil {
		return 0, err
	}
	if at+int64(len(b)) == size && crc16(0, b) == 0 {
		if _, err := s.decodeFrame(b); err == nil {
			return size, nil
		}
	}
	sum := uint16(0)
	for i, c := range b {
		if sum = sum<<8 ^ crc16Table[byte(sum>>8)^c]; sum == 0 && i > h.size {
			if _, err := s.decodeFrame(b[:i+1]); err == nil {
				return at + int64(i) + 1, nil
			}
		}
	}
	return 0, nil
}

// frameBytes is more than a frame takes that any encoder makes: one in which nothing is compressed, and some.
func (s *flacStream) frameBytes(h *flacHeader) int64 {
	return int64(h.block)*int64(s.channels)*int64(s.bits+1)/8*5/4 + 1024
}

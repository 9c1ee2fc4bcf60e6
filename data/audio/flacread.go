package audio

import (
	"bytes"
	"fmt"
	"io"
)

// decode goes to the frame with the first sample and decodes from there. Where a search has led to what is no frame
// after all, it starts from the first one.
func (s *flacStream) decode(src io.ReaderAt, first int, out *sink) error {
	w := &window{src: src, size: s.end}
	at, sample := s.seek(w, int64(first))
	err := s.decodeFrom(w, at, sample, int64(first), out)
	if err != nil && err != errEnough && at > s.start && out.got == 0 {
		return s.decodeFrom(w, s.start, 0, int64(first), out)
	}
	return err
}

// seek finds a frame at or before a sample by halving the file, and the number of its first sample.
func (s *flacStream) seek(w *window, sample int64) (at, first int64) {
	lo, hi := s.start, s.end
	for sample >= int64(s.stride) && hi-lo > 2*pieceBytes {
		mid := lo + (hi-lo)/2
		found, h := s.nextHeader(w, mid, min(mid+pieceBytes*4, hi), -1)
		if h == nil || s.first(h) > sample || s.first(h) < first {
			hi = mid
			continue
		}
		lo, first = found, s.first(h)
	}
	return lo, first
}

// nextHeader finds the next header from byte at on and before end, of the frame with this first sample; -1: of any.
func (s *flacStream) nextHeader(w *window, at, end, first int64) (int64, *flacHeader) {
	for at < end {
		b, err := w.from(at, flacHeaderBytes)
		if err != nil || len(b) == 0 {
			return 0, nil
		}
		for i := 0; i < len(b) && at+int64(i) < end; i++ {
			j := bytes.IndexByte(b[i:], 0xff)
			if j < 0 {
				break
			}
			if i += j; len(b)-i < flacHeaderBytes && at+int64(len(b)) < s.end {
				break // it may go on in the next piece
			}
			if h, ok := readFLACHeader(b[i:]); ok && s.fits(&h) && (first < 0 || s.first(&h) == first) {
				return at + int64(i), &h
			}
		}
		if at+int64(len(b)) >= s.end {
			return 0, nil
		}
		at += int64(len(b)) - flacHeaderBytes + 1
	}
	return 0, nil
}

// decodeFrom decodes frames from byte at on, whose first sample is given, and puts what lies behind skip into out.
func (s *flacStream) decodeFrom(w *window, at, sample, skip int64, out *sink) error {
	out.skip = 0
	var mono []float32
	for at < s.end {
		b, err := s.frame(w, at, sample)
		if err != nil {
			return err
		}
		h, _ := readFLACHeader(b)
		next := sample + int64(h.block)
		if next > skip {
			f, err := s.decodeFrame(b)
			if err != nil {
				return fmt.Errorf("at byte %d: %w", at, err)
			}
			mono = Sized(mono, h.block)
			sound := s.mean(mono, f)
			if err := out.put(mono[max(skip-sample, 0):], sound); err != nil {
				return err
			}
		}
		at, sample = at+int64(len(b)), next
	}
	return fmt.Errorf("the frames end at sample %d of %d: damaged", sample, s.samples)
}

// frame is the bytes of the frame at byte at, which starts with a given sample. It ends where the next one starts, and
// its checksum is right there.
func (s *flacStream) frame(w *window, at, sample int64) ([]byte, error) {
	head, err := w.bytes(at, flacHeaderBytes)
	if err != nil {
		return nil, err
	}
	h, ok := readFLACHeader(head)
	if !ok || !s.fits(&h) || s.first(&h) != sample {
		return nil, fmt.Errorf("no FLAC frame with sample %d at byte %d: damaged", sample, at)
	}
	limit := min(s.end, at+s.frameBytes(&h))
	sum, done := uint16(0), 0
	for from := at + int64(h.size); ; {
		next, n := s.nextHeader(w, from, limit, sample+int64(h.block))
		if n == nil {
			next = s.end
		}
		if next > at+s.frameBytes(&h) {
			return nil, fmt.Errorf("the FLAC frame at byte %d, sample %d, has no end: damaged", at, sample)
		}
		b, err := w.bytes(at, int(next-at))
		if err != nil {
			return nil, err
		}
		if sum, done = crc16(sum, b[done:]), len(b); sum == 0 {
			return b, nil
		}
		if n == nil {
			return nil, fmt.Errorf("the FLAC frame at byte %d, sample %d, has a wrong checksum: damaged", at, sample)
		}
		from = next + 1
	}
}

// windowBytes is what a window reads at a time.
const windowBytes = 2 * pieceBytes

// window gives pieces of a file, and reads them in larger ones.
type window struct {
	src  io.ReaderAt
	size int64
	step int   // bytes to read at a time, 0 for windowBytes
	at   int64 // of b in the file
	b    []byte
}

// bytes are n bytes from byte at on, fewer at the end of the file. They hold until the next call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	n = int(min(int64(n), max(w.size-at, 0)))
	b, err := w.from(at, n)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// from is what the window has from byte at on, n bytes at least but for the end of the file.
func (w *window) from(at int64, n int) ([]byte, error) {
	n = int(min(int64(n), max(w.size-at, 0)))
	if at >= w.at && at+int64(n) <= w.at+int64(len(w.b)) {
		return w.b[at-w.at:], nil
	}
	if at >= w.size {
		return nil, nil
	}
	step := w.step
	if step == 0 {
		step = windowBytes
	}
	w.b = Sized(w.b, int(min(int64(max(n, step)), w.size-at)))
	w.at = at
	if got, err := w.src.ReadAt(w.b, at); got < len(w.b) {
		w.b = w.b[:0]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading byte %d of %d: %w", at+int64(got), w.size, err)
	}
	return w.b, nil
}

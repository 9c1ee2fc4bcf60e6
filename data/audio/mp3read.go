package audio

import (
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// mp3WarmUp is how many frames are decoded before those that are wanted. A frame's data may start up to 511 bytes
// before it, in as many frames before as these take (9 of the shortest at 32 kbit/s, more of those that hold little
// sound); its overlap and the filter bank reach back two frames.
const mp3WarmUp = 12

// decode decodes from mp3WarmUp frames before the first sample that is wanted.
func (s *mp3Stream) decode(src io.ReaderAt, first int, out *sink) error {
	each := int64(s.head.samples())
	want := int64(first) + s.skip
	from := max(want/each-mp3WarmUp, 0) * each // the first sample of the frame to start with
	p := s.points[s.points.before(from)]
	f := &mp3Frames{s: s, count: mp3Count{s: s, w: &window{src: src, size: s.end}}, at: p.at}
	for sample := p.sample; sample+each <= from; sample += each {
		if _, _, err := f.frame(); err != nil {
			return f.ended(err)
		}
	}
	dec, err := mp3.NewDecoder(f)
	if err != nil {
		return f.ended(err)
	}
	out.skip = int(want - from)
	buf := make([]byte, 4*each)
	mono := make([]float32, each)
	for {
		n, err := io.ReadFull(dec, buf)
		if n < len(buf) {
			return f.ended(err)
		}
		sound := false
		for i := range mono {
			l, r := int16(uint16(buf[4*i])|uint16(buf[4*i+1])<<8), int16(uint16(buf[4*i+2])|uint16(buf[4*i+3])<<8)
			sound = sound || l != 0 || r != 0
			mono[i] = (mp3Value(l) + mp3Value(r)) / 2
		}
		if err := out.put(mono, sound); err != nil {
			return err
		}
	}
}

// mp3Value undoes what the library makes of a sample: it multiplies by 32767 and drops the fraction, half of which is
// given back.
func mp3Value(v int16) float32 {
	switch {
	case v > 0:
		return (float32(v) + 0.5) / 32767
	case v < 0:
		return (float32(v) - 0.5) / 32767
	}
	return 0
}

// mp3Frames gives the library whole frames and nothing else. A frame whose data starts before the first frame that was
// given is made silent: the library would take other bits for it.
type mp3Frames struct {
	s     *mp3Stream
	count mp3Count
	at    int64
	left  []byte // of the frame that is being read
	copy  []byte
	held  int // bytes of data of the frames before that the library still has
	err   error
}

// frame is the next frame, which holds until the next call.
func (f *mp3Frames) frame() ([]byte, mp3Header, error) {
	b, err := f.count.w.bytes(f.at, 4)
	if err != nil {
		return nil, mp3Header{}, err
	}
	h, ok := readMP3Header(b)
	if !ok || !h.like(&f.s.head) || h.size == 0 {
		if f.at, h, err = f.count.next(f.at, &f.s.head); err != nil {
			return nil, h, err
		}
	}
	if b, err = f.count.w.bytes(f.at, h.size); err != nil {
		return nil, h, err
	}
	if len(b) < h.size || h.size < h.sound()+h.side() {
		return nil, h, io.EOF
	}
	f.at += int64(h.size)
	return b, h, nil
}

// Read is for the library.
func (f *mp3Frames) Read(p []byte) (int, error) {
	if len(f.left) == 0 {
		b, h, err := f.frame()
		if err != nil {
			f.err = err
			return 0, err
		}
		f.copy = append(f.copy[:0], b...)
		f.left = f.copy
		f.mend(f.copy, &h)
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// mend makes a frame silent whose data starts before what the library has: no bits of sound in any granule.
func (f *mp3Frames) mend(b []byte, h *mp3Header) {
	side := b[h.sound():][:h.side()]
	data := len(b) - h.sound() - h.side()
	begin, most := int(side[0])<<1|int(side[1])>>7, 511
	if h.version != 1 {
		begin, most = int(side[0]), 255
	}
	if begin > f.held {
		clear(side)
		begin = min(f.held, most)
		if h.version == 1 {
			side[0], side[1] = byte(begin>>1), byte(begin<<7)
		} else {
			side[0] = byte(begin)
		}
	}
	f.held = begin + data
}

// ended says why there are no more frames.
func (f *mp3Frames) ended(err error) error {
	if f.err != nil && f.err != io.EOF {
		return f.err
	}
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the MP3 frames end early: damaged")
	}
	return err
}

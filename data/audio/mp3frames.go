package audio

import (
	"errors"
	"fmt"
	"io"
)

// mp3Frames gives the library whole frames, made anew from those of a file. The library takes other bits for a frame's
// data where that starts before the first frame which it was given, and loses a byte of each longer frame at 22.05 kHz.
// So each frame that it sees has the highest bitrate, has no CRC, and is filled with the data of one frame of the file,
// as much as it has: nothing lies between the data of two frames but zeros. A frame whose data isn't there is silent.
type mp3Frames struct {
	s     *mp3Stream
	count mp3Count
	at    int64 // of the next frame in the file

	reservoir []byte // data of the frames before, the last that a frame may refer to
	held      []byte // the frame for the library that waits for the start of the next one's data
	free      int    // bytes of its end
	left      []byte // of the frame that the library is reading
	buf       [2][]byte
	err       error
}

func newMP3Frames(s *mp3Stream, src io.ReaderAt, at int64) *mp3Frames {
	return &mp3Frames{s: s, count: mp3Count{s: s, w: &window{src: src, size: s.end}}, at: at}
}

// frame is the next frame of the file, which holds until the next call.
func (f *mp3Frames) frame() ([]byte, error) {
	b, err := f.count.w.bytes(f.at, 4)
	if err != nil {
		return nil, err
	}
	h, ok := readMP3Header(b)
	if !ok || !h.like(&f.s.head) || h.size == 0 {
		if f.at, h, err = f.count.next(skipTags(f.count.w.src, f.at, f.s.end), &f.s.head); err != nil {
			return nil, err
		}
	}
	if b, err = f.count.w.bytes(f.at, h.size); err != nil {
		return nil, err
	}
	if len(b) < h.size || h.size < h.sound()+h.side() {
		return nil, io.EOF
	}
	f.at += int64(h.size)
	return b, nil
}

// Read is for the library.
func (f *mp3Frames) Read(p []byte) (int, error) {
	for len(f.left) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		b, err := f.frame()
		if err != nil { // the last frame needs nothing more
			f.left, f.held, f.err = f.held, nil, err
			continue
		}
		ready := f.held
		f.next(b)
		f.left = ready
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// next makes f.held of a frame of the file, and puts the start of its data at the end of what f.held was.
func (f *mp3Frames) next(b []byte) {
	h, _ := readMP3Header(b)
	side := append([]byte(nil), b[h.sound():][:h.side()]...)
	data := b[h.sound()+h.side():]
	begin, most := h.begin(side)
	n := (h.bits(side) + 7) / 8
	f.reservoir = append(f.reservoir, data...)
	start := len(f.reservoir) - len(data) - begin

	// The highest bitrate, without padding and CRC.
	full := h
	full.bitrate, full.protect = mp3Bitrates[min(h.version-1, 1)][14], false
	full.size = full.samples() / 8 * full.bitrate * 1000 / full.rate
	room := full.size - full.sound() - full.side()
	early := min(f.free, most, n) // bytes at the end of the frame before
	if begin > most || start < 0 || n-early > room || start+n > len(f.reservoir) {
		clear(side)
		n, early = 0, 0
	} else {
		data = f.reservoir[start : start+n]
		copy(f.held[len(f.held)-early:], data[:early])
		h.setBegin(side, early)
	}
	out := Sized(f.buf[0], full.size)
	f.buf[0], f.buf[1] = f.buf[1], out
	clear(out)
	copy(out, []byte{0xff, b[1] | 1, 14<<4 | b[2]&0x0c, b[3]})
	copy(out[4:], side)
	if n > 0 {
		copy(out[4+len(side):], data[early:])
	}
	f.held, f.free = out, room-(n-early)
	if over := len(f.reservoir) - most; over > 0 {
		f.reservoir = append(f.reservoir[:0], f.reservoir[over:]...)
	}
}

// begin is how many bytes before the frame its data starts, and how many it may be.
func (h *mp3Header) begin(side []byte) (begin, most int) {
	if h.version == 1 {
		return int(side[0])<<1 | int(side[1])>>7, 511
	}
	return int(side[0]), 255
}

func (h *mp3Header) setBegin(side []byte, v int) {
	if h.version == 1 {
		side[0], side[1] = byte(v>>1), byte(v<<7)|side[1]&0x7f
	} else {
		side[0] = byte(v)
	}
}

// bits is how many bits of data the granules and channels of a frame have together.
func (h *mp3Header) bits(side []byte) (n int) {
	at, granules, each := 9+5+4, 2, 59 // bits before the first granule, and of a granule of a channel
	switch {
	case h.version == 1 && h.channels == 2:
		at = 9 + 3 + 8
	case h.version != 1:
		at, granules, each = 8+h.channels, 1, 63
	}
	for range granules * h.channels {
		for i := at; i < at+12; i++ {
			n += int(side[i/8]>>(7-i%8)&1) << (at + 11 - i)
		}
		at += each
	}
	return n
}

// ended says why there are no more frames.
func (f *mp3Frames) ended(err error) error {
	if f.err != nil && f.err != io.EOF {
		return f.err
	}
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the MP3 frames end early: damaged")
	}
	return fmt.Errorf("an MP3 frame: %w", err)
}

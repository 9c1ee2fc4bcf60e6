package audio

import (
	"bytes"
	"fmt"
	"io"

	"konkanitrain/internal/words"
)

// mp3Longest is more than a frame of layer III takes: 320 kbit/s at 32 kHz.
const mp3Longest = 1441

// mp3Count counts an MP3 file's frames.
type mp3Count struct {
	s    *mp3Stream
	w    *window
	info *Info

	at       int64 // of the next frame
	tag      mp3Tag
	junk     int64 // bytes between frames
	kbits    int64 // of all frames together
	varies   bool  // bitrates differ
	channels int
}

// first finds the first frame, and the encoder's tag in it.
func (c *mp3Count) first(start int64) error {
	at, h, err := c.next(start, nil)
	if err == io.EOF {
		return fmt.Errorf("no MPEG audio frame in %d bytes (%w)", c.w.size, ErrFormat)
	} else if err != nil {
		return err
	}
	if err := h.refuse(c.info.Path); err != nil {
		return err
	}
	frame, err := c.w.bytes(at, h.size)
	if err != nil {
		return err
	}
	c.at, c.s.head, c.tag = at, h, mp3Tag{delay: -1, pad: -1}
	if tag, ok := readMP3Tag(frame, &h); ok {
		c.at, c.tag = at+int64(h.size), tag
	}
	return nil
}

// next finds a frame from byte at on: one like the frame before, and where it ends another one, or the end of the file.
// A nil like takes any.
func (c *mp3Count) next(at int64, like *mp3Header) (int64, mp3Header, error) {
	for {
		b, err := c.w.from(at, mp3Longest+4) // so that the end of a frame is in the same piece
		if err != nil {
			return 0, mp3Header{}, err
		}
		if len(b) < 4 {
			return 0, mp3Header{}, io.EOF
		}
		i := bytes.IndexByte(b[:len(b)-3], 0xff)
		if i < 0 {
			at += int64(len(b)) - 3
			continue
		}
		at += int64(i)
		h, ok := readMP3Header(b[i:])
		if !ok || like != nil && (!h.like(like) || h.size == 0) {
			at++
			continue
		}
		if h.size == 0 {
			return at, h, nil
		}
		after, err := c.w.bytes(at+int64(h.size), 4)
		if err != nil {
			return 0, h, err
		}
		if n, ok := readMP3Header(after); ok && n.like(&h) || len(after) < 4 {
			return at, h, nil
		}
		at++
	}
}

// all counts the frames, and makes points.
func (c *mp3Count) all() error {
	s, each := c.s, int64(c.s.head.samples())
	lost := false // the next frame isn't where the last one ends
	for at := c.at; ; {
		b, err := c.w.bytes(at, 4)
		if err != nil {
			return err
		}
		h, ok := readMP3Header(b)
		if !ok || !h.like(&s.head) || h.size == 0 {
			s.end = max(s.end, c.at)
			from := skipTags(c.w.src, at, c.w.size)
			if lost || from == c.w.size {
				return nil
			}
			found, _, err := c.next(from, &s.head)
			if len(b) < 4 {
				c.info.warn("cut off: its last frame has %s; read without it", words.Count(len(b), "byte"))
				return nil
			}
			if err == io.EOF {
				c.junk += c.w.size - from
				return nil
			} else if err != nil {
				return err
			}
			c.junk += found - from
			at, lost = found, true
			continue
		}
		lost = false
		if at+int64(h.size) > c.w.size {
			c.info.warn("cut off: its last frame has %d of %s; read without it", c.w.size-at, words.Count(h.size, "byte"))
			return nil
		}
		if h.size < h.sound()+h.side() {
			return fmt.Errorf("the MP3 frame at byte %d has no room for sound: damaged", at)
		}
		if s.frames == 0 {
			s.head = h
		}
		s.points.add(s.frames*each, at, h.rate)
		s.frames++
		c.channels = max(c.channels, h.channels)
		c.kbits += int64(h.bitrate)
		c.varies = c.varies || h.bitrate != s.head.bitrate
		at += int64(h.size)
		s.end = at
	}
}

// finish settles what of the decoder's samples counts. Where the encoder's tag gives its delay, that and the decoder's
// are cut off in front, and the padding less the decoder's delay behind; the padding only if the tag's number of frames
// is the true one, as otherwise the end is lost or is another file's. Without a tag everything is kept.
func (c *mp3Count) finish() {
	s, info := c.s, c.info
	total := s.frames * int64(s.head.samples())
	info.Rate, info.Channels = s.head.rate, c.channels
	info.Format = fmt.Sprintf("MP3, %d kbit/s", s.head.bitrate)
	if c.varies {
		info.Format = fmt.Sprintf("MP3, %d kbit/s on average", (c.kbits+s.frames/2)/max(s.frames, 1))
	}
	if c.junk > 0 {
		info.warn("%s between its MP3 frames or behind them are no frames like the first; read without them", words.Count(int(c.junk), "byte"))
	}
	known := int64(c.tag.frames)
	if known > 0 && known != s.frames {
		what := "read to the end"
		if known > s.frames {
			what = "cut off"
		}
		info.warn("%s: its tag gives %s, there are %d", what, words.Count(c.tag.frames, "frame"), s.frames)
	}
	if c.tag.delay >= 0 {
		s.skip = int64(c.tag.delay) + mp3Delay
		if known == s.frames {
			total -= max(int64(c.tag.pad)-mp3Delay, 0)
		}
	}
	if len(s.points) == 0 {
		s.points = points{{0, c.at}}
	}
	info.Samples = int(max(total-s.skip, 0))
}

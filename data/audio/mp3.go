package audio

import (
	"encoding/binary"
	"fmt"
	"io"
)

// mp3Header is the header of an MPEG audio frame (ISO/IEC 11172-3, section 2.4.1.3, and 13818-3).
type mp3Header struct {
	version  int // 1, 2, or 25 for MPEG-2.5
	layer    int
	protect  bool // a CRC of 2 bytes follows
	bitrate  int  // kbit/s; 0: free format
	rate     int  // Hz
	channels int
	size     int // bytes of the frame with its header, 0 in free format
}

// mp3Rates are in Hz, of MPEG-1; half for MPEG-2, a quarter for MPEG-2.5.
var mp3Rates = [3]int{44100, 48000, 32000}

// mp3Bitrates of layer III are in kbit/s, of MPEG-1 and of the others.
var mp3Bitrates = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// readMP3Header reads the header at the start of b; ok says whether it may be one.
func readMP3Header(b []byte) (h mp3Header, ok bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return h, false
	}
	version, layer := b[1]>>3&3, b[1]>>1&3
	bitrate, rate, padding := b[2]>>4, b[2]>>2&3, int(b[2]>>1&1)
	if version == 1 || layer == 0 || bitrate == 15 || rate == 3 || b[3]&3 == 2 {
		return h, false
	}
	h.layer = 4 - int(layer)
	h.protect = b[1]&1 == 0
	h.channels = 2
	if b[3]>>6 == 3 {
		h.channels = 1
	}
	low := 1 // row of a table
	switch version {
	case 3:
		h.version, h.rate, low = 1, mp3Rates[rate], 0
	case 2:
		h.version, h.rate = 2, mp3Rates[rate]/2
	default:
		h.version, h.rate = 25, mp3Rates[rate]/4
	}
	if h.layer == 3 {
		h.bitrate = mp3Bitrates[low][bitrate]
		if h.bitrate > 0 {
			h.size = h.samples()/8*h.bitrate*1000/h.rate + padding
		}
	}
	return h, true
}

// samples is how many a frame of layer III has, per channel.
func (h *mp3Header) samples() int {
	if h.version == 1 {
		return 1152
	}
	return 576
}

// side is how many bytes the side information takes.
func (h *mp3Header) side() int {
	switch {
	case h.version == 1 && h.channels == 2:
		return 32
	case h.version == 1 || h.channels == 2:
		return 17
	default:
		return 9
	}
}

// sound is where the side information starts in a frame.
func (h *mp3Header) sound() int {
	if h.protect {
		return 6
	}
	return 4
}

// like says whether both can be frames of one file.
func (h *mp3Header) like(o *mp3Header) bool {
	return h.version == o.version && h.layer == o.layer && h.rate == o.rate
}

// mp3Starts says whether head is the start of an MP3 file: a frame, and another where it ends.
func mp3Starts(head []byte) bool {
	h, ok := readMP3Header(head)
	if !ok {
		return false
	}
	if h.size == 0 {
		return head[1]&0xf6 != 0xf0 // by the header alone: free format, or another layer
	}
	if len(head) <= h.size+4 {
		return true // the first frame is all there is to see
	}
	next, ok := readMP3Header(head[h.size:])
	return ok && h.like(&next)
}

// mp3Tag is what an encoder says in the first frame, which holds no sound.
type mp3Tag struct {
	frames int // 0: unknown
	delay  int // samples that the encoder put in front, and
	pad    int // behind; -1 where it doesn't say
}

// readMP3Tag finds the tag of Xing or LAME, or that of Fraunhofer (VBRI), in a frame.
func readMP3Tag(frame []byte, h *mp3Header) (tag mp3Tag, ok bool) {
	tag.delay, tag.pad = -1, -1
	if at := 4 + 32; len(frame) >= at+18 && starts(frame[at:], "VBRI") {
		tag.frames = int(binary.BigEndian.Uint32(frame[at+14:]))
		return tag, true
	}
	for _, at := range []int{h.sound() + h.side(), 4 + h.side()} {
		if len(frame) < at+8 || !starts(frame[at:], "Xing") && !starts(frame[at:], "Info") {
			continue
		}
		flags := frame[at+7]
		at += 8
		for bit, size := range []int{4, 4, 100, 4} {
			if flags>>bit&1 == 0 {
				continue
			}
			if bit == 0 && len(frame) >= at+4 {
				tag.frames = int(binary.BigEndian.Uint32(frame[at:]))
			}
			at += size
		}
		if len(frame) < at+24 {
			return tag, true
		}
		switch string(frame[at : at+4]) { // the encoder's name has 9 bytes, and 12 stand between it and the delays
		case "LAME", "Lavf", "Lavc", "L3.9":
			v := int(frame[at+21])<<16 | int(frame[at+22])<<8 | int(frame[at+23])
			tag.delay, tag.pad = v>>12, v&0xfff
		}
		return tag, true
	}
	return tag, false
}

// mp3Delay is the delay of every decoder, in samples: 528 of the filter banks, and one.
const mp3Delay = 529

// mp3Stream is an MP3 file of layer III.
type mp3Stream struct {
	head   mp3Header // of the first frame with sound
	skip   int64     // samples that the decoder gives before the first that counts
	end    int64     // behind the last whole frame, in bytes
	frames int64
	points points // the first sample that a frame gives, and where it starts
}

func (s *mp3Stream) append(b []byte) []byte {
	b = append(b, byte(isMP3))
	for _, v := range []int64{int64(s.head.version), int64(s.head.rate), s.skip, s.end, s.frames} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return s.points.append(b)
}

func parseMP3(p *parser) *mp3Stream {
	s := &mp3Stream{head: mp3Header{version: p.int(), layer: 3, rate: p.int()}, skip: int64(p.int())}
	s.end, s.frames = int64(p.int()), int64(p.int())
	s.points = p.points()
	return s
}

// probeMP3 looks at every frame.
func probeMP3(src io.ReaderAt, start, size int64, info *Info) (*mp3Stream, error) {
	c := &mp3Count{s: &mp3Stream{}, w: &window{src: src, size: size}, info: info}
	if err := c.first(start); err != nil {
		return nil, err
	}
	if err := c.all(); err != nil {
		return nil, err
	}
	c.finish()
	return c.s, nil
}

// refuse is an error about what the library doesn't decode.
func (h *mp3Header) refuse(path string) error {
	switch {
	case h.layer < 3:
		return fmt.Errorf("this is MPEG audio of layer %s, and layer III (MP3) is read; %s (%w)",
			[3]string{"", "I", "II"}[h.layer], toConvert(path), ErrFormat)
	case h.version == 25:
		return fmt.Errorf("this is an MP3 file of MPEG-2.5, %d Hz, and MPEG-1 and MPEG-2 are read (16 kHz and more); %s (%w)",
			h.rate, toConvert(path), ErrFormat)
	case h.size == 0:
		return fmt.Errorf("this is an MP3 file in free format, which has no bitrate; %s (%w)", toConvert(path), ErrFormat)
	}
	return nil
}

package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jfreymuth/vorbis"

	"konkanitrain/internal/words"
)

// vorbisCodec is what the headers of a Vorbis stream say.
type vorbisCodec struct {
	rate, channels int
	block          [2]int // samples of a short and of a long block
	setup          vorbisSetup
	previous       int // samples of the block before, 0 at the start
}

// Bounds: more channels than Vorbis gives a meaning to, and the block sizes of the format (Vorbis I, section 4.2.2).
const (
	vorbisChannels = 8
	vorbisShortest = 6
	vorbisLongest  = 13
)

// headers reads identification, comment and setup header.
func (c *vorbisCodec) headers(p *oggPackets) error {
	for i := range 3 {
		b, err := p.packet()
		if err != nil {
			return err
		}
		if len(b) < 7 || b[0] != byte(2*i+1) || string(b[1:7]) != "vorbis" {
			return fmt.Errorf("Vorbis header %d of 3 is damaged", i+1)
		}
		switch i {
		case 0:
			if err := c.identification(b[7:]); err != nil {
				return err
			}
		case 2:
			if err := c.setup.read(b[7:], c.channels); err != nil {
				return fmt.Errorf("the Vorbis setup header: %w", err)
			}
		}
	}
	if p.next < len(p.ready) || p.inside {
		return errors.New("sound on the same Ogg page as the Vorbis headers: damaged")
	}
	return nil
}

func (c *vorbisCodec) identification(b []byte) error {
	if len(b) < 23 || binary.LittleEndian.Uint32(b) != 0 || b[22]&1 == 0 {
		return errors.New("the Vorbis identification header is damaged")
	}
	c.channels, c.rate = int(b[4]), int(binary.LittleEndian.Uint32(b[5:]))
	short, long := int(b[21]&15), int(b[21]>>4)
	if short < vorbisShortest || long < short || long > vorbisLongest {
		return fmt.Errorf("the Vorbis header gives blocks of 2^%d and 2^%d samples", short, long)
	}
	if c.channels < 1 || c.channels > vorbisChannels {
		return fmt.Errorf("the Vorbis header gives %s, and 1 to %d are read", words.Count(c.channels, "channel"), vorbisChannels)
	}
	c.block = [2]int{1 << short, 1 << long}
	return nil
}

// samples is a quarter of this block and of the one before (Vorbis I, section 1.3.2).
func (c *vorbisCodec) samples(start []byte) (int, error) {
	if len(start) == 0 {
		return 0, nil // takes no time
	}
	if start[0]&1 != 0 {
		return 0, errors.New("a Vorbis packet that is no sound: damaged")
	}
	mode := int(start[0] >> 1 & (1<<bitsFor(len(c.setup.long)-1) - 1))
	if mode >= len(c.setup.long) {
		return 0, errors.New("a Vorbis packet of an unknown mode: damaged")
	}
	block := c.block[0]
	if c.setup.long[mode] {
		block = c.block[1]
	}
	n := 0
	if c.previous > 0 {
		n = c.previous/4 + block/4
	}
	c.previous = block
	return n, nil
}

// decodeVorbis decodes from the point before the first sample that is wanted. Its packet gives nothing but the overlap
// for the next, which with it are what they are in the whole file, to the bit.
func (s *oggStream) decodeVorbis(src io.ReaderAt, first int64, out *sink) error {
	w := &window{src: src, size: s.end}
	dec, err := s.vorbisDecoder(w)
	if err != nil {
		return err
	}
	from := s.points[s.points.before(first)]
	if from.sample > first {
		from = point{0, s.start}
	}
	p := &oggPackets{w: w, at: from.at, serial: s.serial}
	buf := make([]float32, dec.BufferSize())
	mono := make([]float32, dec.BufferSize()/s.channels)
	at := from.sample // of what the next packet gives
	for {
		b, err := p.packet()
		if err != nil {
			return err
		}
		if len(b) == 0 {
			continue
		}
		x, err := dec.DecodeInto(b, buf)
		if err != nil {
			return err
		}
		n := len(x) / s.channels
		if at+int64(n) > first {
			sound := mean(mono[:n], x, s.channels)
			if err := out.put(mono[max(first-at, 0):n], sound); err != nil {
				return err
			}
		}
		at += int64(n)
	}
}

// vorbisDecoder is a decoder that has read the headers.
func (s *oggStream) vorbisDecoder(w *window) (*vorbis.Decoder, error) {
	var codec vorbisCodec
	if err := codec.headers(&oggPackets{w: w, serial: s.serial}); err != nil { // the library doesn't check them
		return nil, err
	}
	dec := new(vorbis.Decoder)
	p := &oggPackets{w: w, serial: s.serial}
	for i := range 3 {
		b, err := p.packet()
		if err != nil {
			return nil, err
		}
		if i == 1 {
			continue // comments, which may hold pictures
		}
		if i == 2 {
			b = codec.setup.forLibrary(b)
		}
		if err := dec.ReadHeader(b); err != nil {
			return nil, err
		}
	}
	if dec.Channels() != s.channels {
		return nil, errors.New("its header was changed")
	}
	return dec, nil
}

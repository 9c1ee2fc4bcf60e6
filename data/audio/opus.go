package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/pion/opus"

	"konkanitrain/internal/words"
)

// opusRate is that of every Opus decoder's samples, in Hz; sound of lower rates lies in the lower part of the spectrum.
const opusRate = 48000

// opusWarmUp is how many samples a decoder is given before those that are wanted, 500 ms: RFC 7845, section 4.6, asks
// for 80 ms, after which it has nearly the state that it has in the whole file.
const opusWarmUp = opusRate / 2

// opusLongest is how many samples a packet may have, 120 ms.
const opusLongest = opusRate * 120 / 1000

// opusCodec is what the header of an Ogg Opus stream says (RFC 7845, section 5.1).
type opusCodec struct {
	channels int
	preSkip  int
	gain     float32 // factor
}

func (c *opusCodec) headers(p *oggPackets) error {
	if err := c.head(p); err != nil {
		return err
	}
	b, err := p.packet()
	if err != nil {
		return err
	}
	if !starts(b, "OpusTags") || p.next < len(p.ready) || p.inside {
		return errors.New("the second Opus header is damaged")
	}
	return nil
}

// head reads the first header.
func (c *opusCodec) head(p *oggPackets) error {
	b, err := p.packet()
	if err != nil {
		return err
	}
	if len(b) < 19 || !starts(b, "OpusHead") || b[8]>>4 != 0 {
		return errors.New("the Opus header is damaged")
	}
	c.channels, c.preSkip = int(b[9]), int(binary.LittleEndian.Uint16(b[10:]))
	c.gain = float32(math.Pow(10, float64(int16(binary.LittleEndian.Uint16(b[16:])))/(20*256)))
	if family := b[18]; c.channels < 1 || c.channels > 2 || family > 1 || family == 1 && (len(b) < 21+c.channels || b[19] != 1) {
		return fmt.Errorf("an Opus file with %s of mapping family %d, and one or two are read", words.Count(c.channels, "channel"), family)
	}
	return nil
}

// samples goes by the table of contents in the first byte of a packet, and by the number of frames in the second
// (RFC 6716, sections 3.1 and 3.2).
func (c *opusCodec) samples(start []byte) (int, error) {
	if len(start) == 0 {
		return 0, nil // lost or empty: takes no time
	}
	config, frames := int(start[0]>>3), 1
	var frame int // in units of 2.5 ms
	switch {
	case config < 12:
		frame = [4]int{4, 8, 16, 24}[config&3]
	case config < 16:
		frame = [2]int{4, 8}[config&1]
	default:
		frame = 1 << (config & 3)
	}
	switch start[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(start) < 2 || start[1]&63 == 0 {
			return 0, errors.New("an Opus packet without frames: damaged")
		}
		frames = int(start[1] & 63)
	}
	n := frames * frame * opusRate / 400
	if n > opusLongest {
		return 0, errors.New("an Opus packet of more than 120 ms: damaged")
	}
	return n, nil
}

// decodeOpus decodes from a point at least opusWarmUp before the first sample that is wanted.
func (s *oggStream) decodeOpus(src io.ReaderAt, first int64, out *sink) error {
	w := &window{src: src, size: s.end}
	var codec opusCodec
	if err := codec.head(&oggPackets{w: w, serial: s.serial}); err != nil {
		return err
	}
	if codec.channels != s.channels {
		return errors.New("its header was changed")
	}
	dec, err := opus.NewDecoderWithOutput(opusRate, s.channels)
	if err != nil {
		return err
	}
	from := point{0, s.start}
	if p := s.points[s.points.before(first-opusWarmUp)]; p.sample <= first-opusWarmUp {
		from = p
	}
	p := &oggPackets{w: w, at: from.at, serial: s.serial}
	buf := make([]float32, opusLongest*s.channels)
	mono := make([]float32, opusLongest)
	at := from.sample // of the next packet
	for {
		b, err := p.packet()
		if err != nil {
			return err
		}
		want, err := codec.samples(b)
		if err != nil {
			return err
		}
		if want == 0 {
			continue
		}
		if n, err := dec.DecodeToFloat32(b, buf); err != nil {
			return fmt.Errorf("an Opus packet: %w", err)
		} else if n != want {
			return fmt.Errorf("an Opus packet gives %d samples where it says %d: damaged", n, want)
		}
		if at+int64(want) > first {
			sound := mean(mono[:want], buf[:want*s.channels], s.channels)
			if codec.gain != 1 {
				for i := range mono[:want] {
					mono[i] *= codec.gain
				}
			}
			if err := out.put(mono[max(first-at, 0):want], sound); err != nil {
				return err
			}
		}
		at += int64(want)
	}
}

// decode decodes from the point before the first sample.
func (s *oggStream) decode(src io.ReaderAt, first int, out *sink) error {
	decode := s.decodeVorbis
	if s.kind == isOpus {
		decode = s.decodeOpus
	}
	err := decode(src, int64(first)+s.skip, out)
	if err == io.EOF {
		return fmt.Errorf("the Ogg pages end at sample %d: damaged", first+out.got)
	}
	return err
}

package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"konkanitrain/internal/words"
)

// oggStream is an Ogg file with one stream of Vorbis or Opus.
type oggStream struct {
	kind     kind
	channels int
	serial   uint32
	start    int64 // of the first page with sound, in bytes
	end      int64 // behind the last whole page
	skip     int64 // samples that the decoder gives before the first that counts
	points   points
}

func (s *oggStream) append(b []byte) []byte {
	b = append(b, byte(s.kind))
	for _, v := range []int64{int64(s.channels), int64(s.serial), s.start, s.end, s.skip} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return s.points.append(b)
}

func parseOgg(p *parser, k kind) *oggStream {
	s := &oggStream{kind: k, channels: p.int(), serial: uint32(p.int()), start: int64(p.int()), end: int64(p.int()), skip: int64(p.int())}
	s.points = p.points()
	return s
}

// oggCodec is what a codec knows of packets.
type oggCodec interface {
	// headers reads the packets at the start.
	headers(p *oggPackets) error
	// samples is how many samples a decoder gives for the next packet, which starts with these bytes.
	samples(start []byte) (int, error)
}

// probeOgg looks at all pages of an Ogg file. The packets say how long they are; the page with the flag of the last
// says where the sound ends within it (RFC 7845, section 4.4; Vorbis I, appendix A.2).
func probeOgg(src io.ReaderAt, size int64, info *Info) (*oggStream, error) {
	w := &window{src: src, size: size}
	page, err := readPage(w, 0, true)
	if err == errNoPage {
		return nil, fmt.Errorf("the Ogg file ends within its first page, after %d bytes (%w)", size, ErrNoSamples)
	} else if err != nil {
		return nil, err
	}
	s := &oggStream{serial: page.serial}
	var codec oggCodec
	switch {
	case page.flags&oggFirst == 0:
		return nil, fmt.Errorf("the Ogg file has lost its start: no header on its first page; damaged")
	case starts(page.body, "\x01vorbis"):
		s.kind, codec = isVorbis, &vorbisCodec{}
	case starts(page.body, "OpusHead"):
		s.kind, codec = isOpus, &opusCodec{}
	case starts(page.body, "\x7fFLAC"):
		return nil, fmt.Errorf("this is FLAC in an Ogg file, and %s; %s (%w)", readFormats, toConvert(info.Path), ErrFormat)
	case starts(page.body, "Speex   "):
		return nil, fmt.Errorf("this is an Ogg Speex file, and %s; %s (%w)", readFormats, toConvert(info.Path), ErrFormat)
	default:
		return nil, fmt.Errorf("this is an Ogg file of another kind (its first stream starts with %.8q), and %s; %s (%w)",
			page.body, readFormats, toConvert(info.Path), ErrFormat)
	}
	if other, err := readPage(w, int64(page.size), false); err == nil && other.flags&oggFirst != 0 {
		return nil, fmt.Errorf("the Ogg file has several streams beside each other, perhaps a film; %s (%w)", toConvert(info.Path), ErrFormat)
	}
	p := &oggPackets{w: w, serial: s.serial}
	if err := codec.headers(p); err == io.EOF {
		return nil, fmt.Errorf("the Ogg file ends within its headers, after %d bytes (%w)", size, ErrNoSamples)
	} else if err != nil {
		return nil, err
	}
	s.start = p.at
	c := &oggCount{s: s, codec: codec, info: info}
	switch codec := codec.(type) {
	case *vorbisCodec:
		info.Rate, s.channels, info.Format = codec.rate, codec.channels, "Ogg Vorbis"
	case *opusCodec:
		info.Rate, s.channels, info.Format = opusRate, codec.channels, "Ogg Opus"
		c.preSkip = int64(codec.preSkip)
	}
	info.Channels = s.channels
	if err := c.pages(w); err != nil {
		return nil, err
	}
	return s, c.finish(size)
}

// oggCount counts a stream's samples.
type oggCount struct {
	s       *oggStream
	codec   oggCodec
	info    *Info
	preSkip int64

	samples int64  // that packets so far give
	origin  int64  // granule position of the first of them, by the first page where a packet ends
	known   bool   // origin is
	last    int64  // granule position of the last page, where it has that flag; else -1
	start   []byte // of the packet that was begun last
}

// pages looks at all pages with sound.
func (c *oggCount) pages(w *window) error {
	s := c.s
	at, number := s.start, int64(-1)
	c.last = -1
	for {
		page, err := readPage(w, at, false)
		if err == io.EOF || err == errNoPage {
			s.end = at
			if at = skipTags(w.src, at, w.size); at < w.size {
				return c.torn(w, at)
			}
			return nil
		} else if err != nil {
			return err
		}
		switch {
		case page.flags&oggFirst != 0:
			return fmt.Errorf("the Ogg file is a chain of several, the second from byte %d on; %s (%w)", at, toConvert(c.info.Path), ErrFormat)
		case page.serial != s.serial:
			return fmt.Errorf("the Ogg file has several streams beside each other; %s (%w)", toConvert(c.info.Path), ErrFormat)
		case number >= 0 && int64(page.number) != number+1:
			return fmt.Errorf("Ogg pages are missing at byte %d: page %d follows page %d; damaged", at, page.number, number)
		case c.last >= 0:
			return fmt.Errorf("Ogg pages go on at byte %d, behind the last: damaged", at)
		}
		number = int64(page.number)
		if err := c.page(&page, at); err != nil {
			return fmt.Errorf("the Ogg page at byte %d: %w", at, err)
		}
		at += int64(page.size)
	}
}

// page counts the samples of the packets that end on a page. Its first packet is a point to start from, if it ends
// there too; a Vorbis decoder has the samples behind it, and not its own.
func (c *oggCount) page(page *oggPage, at int64) error {
	inside := page.flags&oggContinued != 0 // a packet that has begun before
	pointed := false
	err := page.packets(func(piece []byte, ends bool) error {
		if !inside {
			c.start = append(c.start[:0], piece[:min(len(piece), 4)]...)
		}
		before := c.samples
		if ends {
			n, err := c.codec.samples(c.start)
			if err != nil {
				return err
			}
			c.samples += int64(n)
		}
		if !inside && !pointed {
			pointed = true
			if ends && c.s.kind == isVorbis {
				before = c.samples
			}
			if ends {
				c.s.points.add(before, at, c.info.Rate)
			}
		}
		inside = false
		return nil
	})
	if err != nil {
		return err
	}
	if page.granule >= 0 && !c.known {
		c.known = true
		if page.flags&oggLast == 0 {
			c.origin = page.granule - c.samples
		}
	}
	if page.flags&oggLast != 0 {
		c.last = max(page.granule, 0)
	}
	return nil
}

// torn says what the bytes from at on are, where a page should start.
func (c *oggCount) torn(w *window, at int64) error {
	magic := binary.LittleEndian.AppendUint32(nil, c.s.serial)
	for from := at + 1; ; {
		b, err := w.from(from, 27)
		if err != nil {
			return err
		}
		if len(b) < 27 {
			break
		}
		for i := bytes.Index(b, []byte("OggS")); i >= 0 && i+27 <= len(b); {
			if bytes.Equal(b[i+14:i+18], magic) {
				return fmt.Errorf("no Ogg page at byte %d, and the next at byte %d: damaged", at, from+int64(i))
			}
			j := bytes.Index(b[i+4:], []byte("OggS"))
			if i += 4 + j; j < 0 {
				break
			}
		}
		from += int64(len(b)) - 26
	}
	c.info.warn("cut off: the last %s are no whole Ogg page; %s are there",
		words.Count(int(w.size-at), "byte"), words.Count(int(max(c.samples-c.preSkip, 0)), "sample"))
	return nil
}

// finish settles how many samples count.
func (c *oggCount) finish(size int64) error {
	s, total := c.s, c.samples
	if c.last < 0 && len(c.info.Warnings) == 0 {
		c.info.warn("cut off: no Ogg page is the last; %s are there", words.Count(int(max(total-c.preSkip, 0)), "sample"))
	}
	s.skip = c.preSkip
	switch {
	case c.origin < 0 && s.kind == isVorbis: // cut off in front, within a packet
		s.skip = -c.origin
	case c.origin < 0:
		c.origin = 0
	}
	if c.last >= 0 {
		total = min(total, c.last-c.origin)
	}
	c.info.Samples = int(max(total-s.skip, 0))
	if len(s.points) == 0 {
		s.points = points{{0, s.start}}
	}
	if c.info.Samples == 0 {
		return fmt.Errorf("%s headers but no sound in %d bytes (%w)", c.info.Format, size, ErrNoSamples)
	}
	return nil
}

package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"konkanitrain/internal/words"
)

// flacChain is FLAC files that were joined into one, of one rate and with as many channels.
type flacChain []*flacStream

func (c flacChain) append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(isFLACChain)), uint64(len(c)))
	for _, s := range c {
		b = s.append(b)
	}
	return b
}

func parseFLACChain(p *parser) flacChain {
	var c flacChain
	for n := p.int(); n > 0 && !p.bad; n-- {
		if p.byte() != byte(isFLAC) {
			p.bad = true
		}
		c = append(c, parseFLAC(p))
	}
	return c
}

// decode decodes one file after the other, from the one with the first sample on.
func (c flacChain) decode(src io.ReaderAt, first int, out *sink) error {
	for _, s := range c {
		if first >= int(s.samples) {
			first -= int(s.samples)
			continue
		}
		one := *out
		one.n, one.got, one.x = min(out.n-out.got, int(s.samples)-first), 0, out.x[len(out.x):]
		err := s.decode(src, first, &one)
		if len(one.x) > 0 {
			out.x, out.sound = append(out.x, one.x...), one.sound
		}
		out.got, out.failed = out.got+one.got, one.failed
		if err != errEnough || out.got == out.n {
			return err
		}
		first = 0
	}
	return fmt.Errorf("the frames of %s end early: damaged", words.Count(len(c), "FLAC file"))
}

// flacMagic is how every FLAC file starts: with STREAMINFO of 34 bytes, which may be the last block or not.
var flacMagic = []byte("fLaC\x00\x00\x00\x22")

// nextFLAC is where a FLAC file starts from byte at on, and the end of the recording if none does.
func nextFLAC(src io.ReaderAt, at, size int64) (int64, error) {
	w := &window{src: src, size: size}
	for {
		b, err := w.from(at, len(flacMagic))
		if err != nil || len(b) < len(flacMagic) {
			return size, err
		}
		for i := 0; ; i++ {
			j := bytes.Index(b[i:], flacMagic[:4])
			if i += j; j < 0 || i+len(flacMagic) > len(b) {
				break
			}
			if b[i+4]&0x7f == 0 && bytes.Equal(b[i+5:i+8], flacMagic[5:]) {
				return at + int64(i), nil
			}
		}
		at += int64(len(b)) - int64(len(flacMagic)) + 1
	}
}

// What is looked at of a FLAC file to see that no other one is joined to it.
const (
	flacSmall  = 1 << 20 // bytes that are looked through
	flacPlaces = 8       // parts of a larger file, between which a frame is looked at
	flacUneven = 0.2     // of the file: how far the sound may run before its bytes, or after them
)

// isAlone says whether a stream is the only one in its file, which ends with as many samples as its header declares, or
// whose header declares none: the numbers of the frames grow with their places. Where it says no the file must be
// looked through.
func (s *flacStream) isAlone(src io.ReaderAt) bool {
	length := s.end - s.start
	if length <= flacSmall {
		return false
	}
	w := &window{src: src, size: s.end, step: 1 << 13}
	for k := int64(1); k < flacPlaces; k++ {
		at, h := s.nextHeader(w, s.start+length*k/flacPlaces, s.end, -1)
		if h == nil {
			return false
		}
		by := float64(s.first(h))/float64(s.samples) - float64(at-s.start)/float64(length)
		if by > flacUneven || by < -flacUneven {
			return false
		}
	}
	return true
}

// probeFLAC describes a FLAC file, and those that are joined to it where their rate and channels agree. What lies
// behind and isn't read is a warning.
func probeFLAC(src io.ReaderAt, start, size int64, info *Info) (stream, error) {
	first, total, err := readFLAC(src, start, size, info)
	if err == nil && (total == first.samples || total == 0) && first.isAlone(src) {
		return first, nil
	}
	next, found := nextFLAC(src, start+1, size)
	if found != nil {
		return nil, found
	}
	if next == size {
		return first, err
	}
	info.Warnings, info.Samples = nil, 0 // they are of several files as one
	var chain flacChain
	for at := start; at < size; at = next {
		if next, err = nextFLAC(src, at+1, size); err != nil {
			return nil, err
		}
		part := Info{Path: info.Path}
		s, _, err := readFLAC(src, at, next, &part)
		switch {
		case err != nil && len(chain) == 0:
			return nil, err
		case err == nil && len(chain) > 0 && (part.Rate != info.Rate || part.Channels != info.Channels):
			err = fmt.Errorf("it has %d Hz and %s", part.Rate, words.Count(part.Channels, "channel"))
		}
		if err != nil {
			info.warn("%d samples; not read are the %d bytes behind them, from byte %d on, where another FLAC file starts: %v",
				info.Samples, size-at, at, err)
			return chain.simple(), nil
		}
		if len(chain) == 0 {
			info.Rate, info.Channels, info.Format = part.Rate, part.Channels, part.Format
		}
		info.Samples += part.Samples
		info.Warnings = append(info.Warnings, part.Warnings...)
		chain = append(chain, s)
	}
	info.warn("%s joined into one; read one after the other", words.Count(len(chain), "FLAC file"))
	return chain, nil
}

// simple is the only file of a chain, or else the chain.
func (c flacChain) simple() stream {
	if len(c) == 1 {
		return c[0]
	}
	return c
}

package audio

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// infoVersion is the first byte of an Info as bytes. It changes with what they mean, so that an Info which was kept by
// another version is found out again.
const infoVersion = 2

// MarshalBinary gives everything but the path: some 30 bytes and the warnings, and for MP3 and Ogg some 4 KB for each
// hour of sound, by which a part is found. It never fails.
func (i Info) MarshalBinary() ([]byte, error) {
	b := []byte{infoVersion}
	for _, v := range []int{i.Rate, i.Channels, i.Samples, i.FileSamples, int(i.size)} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = appendText(b, i.Format)
	b = binary.AppendUvarint(b, uint64(len(i.Warnings)))
	for _, w := range i.Warnings {
		b = appendText(b, strings.TrimPrefix(w, i.Path+": "))
	}
	if i.stream == nil {
		return append(b, byte(isWAV)), nil
	}
	return i.stream.append(b), nil
}

// UnmarshalBinary takes what MarshalBinary gave. The path is not among it: it keeps i.Path, which should be set before.
// Bytes of another version, or damaged ones, are an error; then the recording is to be probed again.
func (i *Info) UnmarshalBinary(b []byte) error {
	p := parser{b: b}
	if p.byte() != infoVersion {
		return fmt.Errorf("what is kept of %s is of another version", i.Path)
	}
	k := Info{Path: i.Path}
	k.Rate, k.Channels, k.Samples, k.FileSamples = p.int(), p.int(), p.int(), p.int()
	k.size = int64(p.int())
	k.Format = p.text()
	for n := p.int(); n > 0 && !p.bad; n-- {
		k.Warnings = append(k.Warnings, i.Path+": "+p.text())
	}
	switch kind := kind(p.byte()); kind {
	case isWAV:
	case isFLAC:
		k.stream = parseFLAC(&p)
	case isFLACChain:
		k.stream = parseFLACChain(&p)
	case isMP3:
		k.stream = parseMP3(&p)
	case isVorbis, isOpus:
		k.stream = parseOgg(&p, kind)
	default:
		p.bad = true
	}
	if p.bad || len(p.b) > 0 || k.Rate < MinRate || k.Rate > MaxRate || k.Channels < 1 || k.Samples < 1 {
		return fmt.Errorf("what is kept of %s is damaged", i.Path)
	}
	*i = k
	return nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// parser takes numbers and texts from the front of b; bad, once set, stays.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) byte() byte {
	if len(p.b) == 0 {
		p.bad = true
		return 0
	}
	c := p.b[0]
	p.b = p.b[1:]
	return c
}

func (p *parser) int() int {
	v, n := binary.Uvarint(p.b)
	if n <= 0 || v > 1<<62 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return int(v)
}

func (p *parser) text() string {
	n := p.int()
	if n > len(p.b) {
		p.bad, p.b = true, nil
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

// point is a place from which a recording can be decoded: the sample that its bytes start at.
type point struct{ sample, at int64 }

// points are in ascending order.
type points []point

// pointSeconds is how far apart points are. Recordings that are shorter have none but their start.
const pointSeconds = 5

// add appends a point, unless the last one is near.
func (p *points) add(sample, at int64, rate int) {
	if len(*p) == 0 || sample-(*p)[len(*p)-1].sample >= pointSeconds*int64(rate) {
		*p = append(*p, point{sample, at})
	}
}

// before is the number of the last point at or before a sample, 0 if there is none.
func (p points) before(sample int64) int {
	lo, hi := 0, len(p)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; p[mid].sample <= sample {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (p points) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(p)))
	last := point{}
	for _, q := range p {
		b = binary.AppendUvarint(b, uint64(q.sample-last.sample))
		b = binary.AppendUvarint(b, uint64(q.at-last.at))
		last = q
	}
	return b
}

func (p *parser) points() points {
	n := p.int()
	if n < 1 || n > len(p.b)/2 {
		p.bad = true
		return nil
	}
	list := make(points, n)
	last := point{}
	for i := range list {
		last.sample += int64(p.int())
		last.at += int64(p.int())
		if last.sample > 1<<60 || last.at > 1<<60 {
			p.bad = true
		}
		list[i] = last
	}
	return list
}

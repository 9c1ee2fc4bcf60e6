package audio

import (
	"bytes"
	"fmt"

	"github.com/mewkiz/flac/frame"
)

// flacHeader is the header of a FLAC frame (RFC 9639, section 9.1).
type flacHeader struct {
	variable bool // number counts samples, not frames
	block    int  // samples per channel
	rate     int  // Hz; 0: as in STREAMINFO
	channels int
	bits     int    // of a sample; 0: as in STREAMINFO
	number   uint64 // of the frame or of its first sample
	size     int    // bytes of the header with its CRC-8
}

// Longest header: 4 bytes, a number of 7, block size and rate of 2 each, the CRC.
const flacHeaderBytes = 16

// readFLACHeader reads the header at the start of b; ok says whether it is one, by its CRC too.
func readFLACHeader(b []byte) (h flacHeader, ok bool) {
	if len(b) < 6 || b[0] != 0xff || b[1]&0xfe != 0xf8 || b[3]&1 != 0 {
		return h, false
	}
	h.variable = b[1]&1 != 0
	block, rate := int(b[2]>>4), int(b[2]&15)
	if channels := int(b[3] >> 4); channels < 8 {
		h.channels = channels + 1
	} else if h.channels = 2; channels > 10 {
		return h, false
	}
	h.bits = [8]int{0, 8, 12, -1, 16, 20, 24, 32}[b[3]>>1&7]
	if h.bits < 0 || block == 0 || rate == 15 {
		return h, false
	}
	at := 4
	if h.number, at, ok = flacNumber(b, at); !ok {
		return h, false
	}
	more := 0 // bytes behind the number
	if block == 6 || block == 7 {
		more += block - 5
	}
	if rate >= 12 {
		more += 1 + min(rate-12, 1)
	}
	if len(b) < at+more+1 || crc8(b[:at+more]) != b[at+more] {
		return h, false
	}
	h.size = at + more + 1
	u16 := func() int { at += 2; return int(b[at-2])<<8 | int(b[at-1]) }
	switch {
	case block == 1:
		h.block = 192
	case block <= 5:
		h.block = 144 << block
	case block == 6:
		h.block, at = int(b[at])+1, at+1
	case block == 7:
		h.block = u16() + 1
	default:
		h.block = 1 << block
	}
	switch {
	case rate < 12:
		h.rate = [12]int{0, 88200, 176400, 192000, 8000, 16000, 22050, 24000, 32000, 44100, 48000, 96000}[rate]
	case rate == 12:
		h.rate = int(b[at]) * 1000
	case rate == 13:
		h.rate = u16()
	default:
		h.rate = u16() * 10
	}
	return h, true
}

// flacNumber reads the coded number of a frame: UTF-8, continued to 36 bits.
func flacNumber(b []byte, at int) (v uint64, end int, ok bool) {
	c := b[at]
	n := 0 // bytes that follow
	for n < 7 && c&(0x80>>n) != 0 {
		n++
	}
	switch {
	case n == 0:
		return uint64(c), at + 1, true
	case n == 1 || c == 0xff || len(b) < at+n:
		return 0, 0, false
	}
	v = uint64(c & (0x7f >> n))
	for _, c := range b[at+1 : at+n] {
		if c&0xc0 != 0x80 {
			return 0, 0, false
		}
		v = v<<6 | uint64(c&0x3f)
	}
	return v, at + n, true
}

// fits says whether a frame can belong to the stream.
func (s *flacStream) fits(h *flacHeader) bool {
	return h.channels == s.channels && (h.bits == 0 || h.bits == s.bits) && (h.rate == 0 || h.rate == s.rate)
}

// first is the number of a frame's first sample.
func (s *flacStream) first(h *flacHeader) int64 {
	if h.variable {
		return int64(h.number)
	}
	return int64(h.number) * int64(s.stride)
}

// decodeFrame decodes a whole frame and nothing more. The library logs a line for each frame at two rates, has no
// 32 bits, and takes neither rate nor bits from STREAMINFO: it is shown a header that leaves the rate to STREAMINFO, as
// the format allows, and told the bits.
func (s *flacStream) decodeFrame(b []byte) (*frame.Frame, error) {
	h, ok := readFLACHeader(b)
	if !ok || !s.fits(&h) || h.block > 65535 || crc16(0, b) != 0 {
		return nil, fmt.Errorf("a FLAC frame of %d bytes is damaged", len(b))
	}
	if rate := b[2] & 15; rate == 2 || rate == 7 || h.bits == 32 {
		b = bytes.Clone(b)
		if rate < 12 {
			b[2] &= 0xf0
		}
		if h.bits == 32 {
			b[3] &= 0xf1
		}
		b[h.size-1] = crc8(b[:h.size-1])
		sum := crc16(0, b[:len(b)-2])
		b[len(b)-2], b[len(b)-1] = byte(sum>>8), byte(sum)
	}
	r := bytes.NewReader(b)
	f, err := frame.New(r)
	if err != nil {
		return nil, err
	}
	f.BitsPerSample = uint8(s.bits)
	if err := f.Parse(); err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("a FLAC frame ends %d bytes early", r.Len())
	}
	for _, sub := range f.Subframes {
		if len(sub.Samples) != h.block {
			return nil, fmt.Errorf("a FLAC frame has %d samples where its header says %d", len(sub.Samples), h.block)
		}
	}
	return f, nil
}

// mean is the mean of a frame's channels, computed as that of a WAV file's integers. It says whether any holds anything
// but zero.
func (s *flacStream) mean(dst []float32, f *frame.Frame) (sound bool) {
	full := 1 / float64(int64(1)<<(s.bits-1))
	share := 1 / float64(s.channels)
	heard := int32(0)
	for i := range dst {
		sum := 0.0
		for _, sub := range f.Subframes {
			v := sub.Samples[i]
			heard |= v
			sum += float64(v) * full
		}
		dst[i] = float32(sum * share)
	}
	return heard != 0
}

// The checksums of RFC 9639: x^8 + x^2 + x + 1 and x^16 + x^15 + x^2 + 1, the highest bit first, from 0.
var crc8Table, crc16Table = func() (t8 [256]byte, t16 [256]uint16) {
	for i := range 256 {
		a, b := byte(i), uint16(i)<<8
		for range 8 {
			a, b = a<<1^a>>7*0x07, b<<1^b>>15*0x8005
		}
		t8[i], t16[i] = a, b
	}
	return t8, t16
}()

func crc8(b []byte) (sum byte) {
	for _, c := range b {
		sum = crc8Table[sum^c]
	}
	return sum
}

// crc16 goes on from sum.
func crc16(sum uint16, b []byte) uint16 {
	for _, c := range b {
		sum = sum<<8 ^ crc16Table[byte(sum>>8)^c]
	}
	return sum
}

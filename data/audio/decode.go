package audio

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// decode turns whole frames into the mean of their channels, one float32 a frame.
// It reports whether any channel held anything but zero. b may be overwritten.
//
// Sums are float64: every integer of up to 53 bits is exact in it, and so is the mean
// of two channels.
func (h *header) decode(dst []float32, b []byte, ints *integers) (sound bool, err error) {
	if h.bigEndian && h.container > 1 {
		for s := range slices.Chunk(b, h.container) {
			slices.Reverse(s)
		}
	}
	if h.integer() {
		samples, err := ints.decode(b)
		if err != nil {
			return false, err
		}
		return h.mean(dst, samples), nil
	}
	sample := h.sampler()
	share := 1 / float64(h.channels)
	for i := range dst {
		frame := b[i*h.block : (i+1)*h.block]
		sum := 0.0
		for at := 0; at < len(frame); at += h.container {
			v := sample(frame[at : at+h.container])
			sum += v
			sound = sound || v != 0
		}
		dst[i] = float32(sum * share)
	}
	return sound, nil
}

// sampler returns the function that decodes one sample of h.container bytes,
// little-endian, of the codings that go-audio/wav doesn't know.
func (h *header) sampler() func([]byte) float64 {
	switch {
	case h.tag == tagFloat && h.container == 4:
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case h.tag == tagFloat:
		return func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	case h.tag == tagALaw:
		return func(b []byte) float64 { return alaw(b[0]) }
	case h.tag == tagMuLaw:
		return func(b []byte) float64 { return mulaw(b[0]) }
	default: // integers of 5 to 8 bytes
		return func(b []byte) float64 {
			var v uint64
			for i, c := range b {
				v |= uint64(c) << (8 * (i + 8 - len(b)))
			}
			return float64(int64(v)) / (1 << 63)
		}
	}
}

// alaw and mulaw expand the 8-bit codes of ITU-T G.711 to [-1, 1).
func alaw(c byte) float64 {
	c ^= 0x55
	exponent, mantissa := int(c>>4&7), int(c&15)
	v := mantissa<<4 + 8
	if exponent > 0 {
		v = (v + 0x100) << (exponent - 1)
	}
	if c&0x80 == 0 {
		v = -v
	}
	return float64(v) / 32768
}

func mulaw(c byte) float64 {
	c = ^c
	v := (int(c&15)<<3+0x84)<<(c>>4&7) - 0x84
	if c&0x80 != 0 {
		v = -v
	}
	return float64(v) / 32768
}

// alignment finds out whether samples of 24 bits in 4 bytes stand in the low three
// bytes. The format puts them in the high ones and zeros below; some writers do the
// reverse, which read by the rule is noise: their low byte is in use and their high
// byte is only ever 0 or a sign.
type alignment struct{ low, high bool }

func (a *alignment) look(b []byte, bigEndian bool) {
	for ; len(b) >= 4; b = b[4:] {
		low, high := b[0], b[3]
		if bigEndian {
			low, high = high, low
		}
		a.low = a.low || low != 0
		a.high = a.high || high != 0 && high != 0xff
	}
}

// mayBeLow says whether the samples are of the kind that an alignment is looked for.
func (h *header) mayBeLow() bool { return h.tag == tagPCM && h.container == 4 && h.bits <= 24 }

func (a *alignment) right() bool { return a.low && !a.high }

// finite finds the first sample that is NaN or infinite; x[0] has a number.
func finite(x []float32, first int) error {
	for i, v := range x {
		if v-v != 0 {
			return fmt.Errorf("sample %d is %v: a damaged file, or not floating-point samples", first+i, v)
		}
	}
	return nil
}

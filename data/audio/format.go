package audio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/go-audio/riff"
)

// readFormat reads the format chunk of n bytes at byte at: the common 16 bytes
// through the library, then what the extensible tag adds.
func (h *header) readFormat(parser *riff.Parser, src io.ReaderAt, r io.Reader, at, n int64) error {
	// Size 16 keeps the library from allocating and reading what the chunk claims to hold.
	chunk := &riff.Chunk{ID: riff.FmtID, Size: 16, R: r}
	if err := chunk.DecodeWavHeader(parser); err != nil {
		return fmt.Errorf("reading the format chunk: %w", err)
	}
	u16 := func(v uint16) uint16 {
		if h.bigEndian {
			return bits.ReverseBytes16(v)
		}
		return v
	}
	rate := parser.SampleRate
	if h.bigEndian {
		rate = bits.ReverseBytes32(rate)
	}
	h.tag = u16(parser.WavAudioFormat)
	h.channels = int(u16(parser.NumChannels))
	h.rate = int(rate)
	h.block = int(u16(parser.BlockAlign))
	h.bits = int(u16(parser.BitsPerSample))
	if h.tag != tagExtensible {
		return nil
	}
	if n < 26 {
		return fmt.Errorf("the extensible format (0xFFFE) needs 40 bytes, the format chunk has %d: the sample format is unknown", n)
	}
	var extra [10]byte // cbSize, valid bits, channel mask, first two bytes of the sub-format
	if _, err := src.ReadAt(extra[:], at+16); err != nil {
		return fmt.Errorf("reading the format chunk: %w", err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if h.bigEndian {
		order = binary.BigEndian
	}
	h.tag = order.Uint16(extra[8:])
	// In the extensible format bits is the size of the container, and 0 valid bits
	// is how some writers say "all".
	if valid := int(order.Uint16(extra[2:])); valid > 0 && valid < h.bits {
		h.container = (h.bits + 7) / 8
		h.bits = valid
	}
	return nil
}

// check refuses what can't be meant, and settles the size of a sample: the block
// size decides where it fits channels and bits, as for 24 bits in 4 bytes.
func (h *header) check(info *Info) error {
	switch {
	case h.rate < MinRate || h.rate > MaxRate:
		return fmt.Errorf("the header gives a rate of %d Hz, which is not plausible (%d to %d Hz are); correct the header", h.rate, MinRate, MaxRate)
	case h.channels == 0:
		return fmt.Errorf("the header gives 0 channels")
	}
	switch h.tag {
	case tagPCM:
		if h.bits < 1 || h.bits > 64 {
			return fmt.Errorf("the header gives %d-bit integers; 1 to 64 bits are read", h.bits)
		}
	case tagFloat:
		if h.bits != 32 && h.bits != 64 {
			return fmt.Errorf("the header gives %d-bit floats; 32 and 64 bits are read", h.bits)
		}
	case tagALaw, tagMuLaw:
		if h.bits != 8 {
			return fmt.Errorf("the header gives %d-bit %s; 8 bits are read", h.bits, h.format())
		}
	default:
		return fmt.Errorf("the samples are coded as %s; PCM, float, A-law and mu-law are read: convert the file, for example with ffmpeg -c:a pcm_s16le", tagName(h.tag))
	}
	need := max(h.container, (h.bits+7)/8)
	if h.block%h.channels == 0 && h.block/h.channels >= need && h.block/h.channels <= 8 {
		if h.tag == tagPCM {
			need = h.block / h.channels
		}
	}
	h.container = need
	if h.block != need*h.channels {
		info.warn("the header gives %d bytes a frame, %d channels of %d bits take %d; read with %d", h.block, h.channels, h.bits, need*h.channels, need*h.channels)
		h.block = need * h.channels
	}
	return nil
}

// tagName names a coding that isn't read.
func tagName(tag uint16) string {
	names := map[uint16]string{
		0x0002: "Microsoft ADPCM", 0x0010: "OKI ADPCM", 0x0011: "IMA ADPCM", 0x0014: "G.723 ADPCM", 0x0031: "GSM 6.10",
		0x0040: "G.721 ADPCM", 0x0045: "G.726 ADPCM", 0x0050: "MPEG", 0x0055: "MP3", 0x0064: "G.726 ADPCM",
		0x0161: "Windows Media Audio", 0x00ff: "AAC", 0x1610: "AAC", 0xf1ac: "FLAC",
	}
	if n, ok := names[tag]; ok {
		return fmt.Sprintf("%s (format 0x%04X)", n, tag)
	}
	return fmt.Sprintf("unknown format 0x%04X", tag)
}

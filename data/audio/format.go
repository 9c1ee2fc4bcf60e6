package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/go-audio/riff"

	"konkanitrain/internal/words"
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
	h.perSecond = int64(parser.AvgBytesPerSec)
	if h.bigEndian {
		h.perSecond = int64(bits.ReverseBytes32(parser.AvgBytesPerSec))
	}
	h.bits = int(u16(parser.BitsPerSample))
	if h.tag != tagExtensible {
		return nil
	}
	if n < 26 {
		return fmt.Errorf("the extensible format (0xFFFE) needs 40 bytes, the format chunk has %d: the sample format is unknown", n)
	}
	extra := make([]byte, min(n-16, 24)) // cbSize, valid bits, channel mask, sub-format
	if _, err := src.ReadAt(extra, at+16); err != nil {
		return fmt.Errorf("reading the format chunk: %w", err)
	}
	order := h.order()
	if err := h.subFormat(extra[8:], order); err != nil {
		return err
	}
	// In the extensible format bits is the size of the container, and 0 valid bits
	// is how some writers say "all".
	if valid := int(order.Uint16(extra[2:])); valid > 0 && valid < h.bits {
		h.container = (h.bits + 7) / 8
		h.bits = valid
	}
	return nil
}

// subFormat takes the coding from the sub-format of an extensible file, a GUID: its first four bytes are the tag, and
// what follows must be what makes it one (KSDATAFORMAT_SUBTYPE_WAVEFORMATEX in Microsoft's ksmedia.h). Of a GUID that
// the chunk is too short for, what is there counts.
func (h *header) subFormat(guid []byte, order binary.ByteOrder) error {
	layout := func(data2, data3 uint16, data4 string) []byte {
		b := make([]byte, 8, 16)
		order.PutUint16(b[4:], data2)
		order.PutUint16(b[6:], data3)
		return append(b, data4...)
	}
	wave := layout(0, 0x10, "\x80\x00\x00\xaa\x00\x38\x9b\x71")
	ambisonic := layout(0x0721, 0x11d3, "\x86\x44\xc8\xc1\xca\x00\x00\x00")
	g := slices.Clone(wave)
	copy(g, guid)
	tag := order.Uint32(g)
	switch {
	case bytes.Equal(g[4:], wave[4:]) && tag <= 0xFFFF:
		h.tag = uint16(tag)
		return nil
	case bytes.Equal(g[4:], ambisonic[4:]):
		return fmt.Errorf("the file is an ambisonic recording (B-format), whose channels have no meaningful mean; " +
			"extract one channel, the first for sound from all directions")
	}
	return fmt.Errorf("the samples are coded in an unknown sub-format, %08X-%04X-%04X-%X-%X; "+
		"convert the file, for example with ffmpeg -c:a pcm_s16le",
		tag, order.Uint16(g[4:]), order.Uint16(g[6:]), g[8:10], g[10:])
}

// check refuses what can't be meant, and settles the size of a sample: the block
// size decides where it fits channels and bits, as for 24 bits in 4 bytes.
func (h *header) check(info *Info) error {
	switch {
	case h.rate < MinRate || h.rate > MaxRate:
		return fmt.Errorf("the header gives a rate of %d Hz, which is not plausible (%d to %d Hz are); correct the header",
			h.rate, MinRate, MaxRate)
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
		return fmt.Errorf("the samples are coded as %s; PCM, float, A-law and mu-law are read: "+
			"%s (%w)", tagName(h.tag), toConvert(info.Path), ErrFormat)
	}
	h.settleBlock(info)
	return nil
}

// settleBlock decides how many bytes a sample and a frame take. The bytes a frame that the header gives do, where
// channels and bits fit into them; where they disagree with the bytes a second, and those agree with channels and bits,
// the latter two do. But samples of 3 bytes in 4 are usual, and their writers often wrong about the bytes a second.
func (h *header) settleBlock(info *Info) {
	container := max(h.container, (h.bits+7)/8)
	frame := container * h.channels
	second := int64(h.rate) * int64(h.block)
	inFour := container == 3 && h.block == 4*h.channels
	switch {
	case h.perSecond != second && h.perSecond == int64(h.rate)*int64(frame) && h.block != frame && !inFour:
		info.warn("the header gives %d bytes a frame and %d a second, which do not agree at %d Hz; "+
			"with %s of %d bits there are %d bytes a frame; read with %d",
			h.block, h.perSecond, h.rate, words.Count(h.channels, "channel"), h.bits, frame, frame)
	case h.tag == tagPCM && h.block%h.channels == 0 && h.block/h.channels >= container && h.block/h.channels <= 8:
		container = h.block / h.channels
		h.checkSecond(info, second)
	case h.block != frame:
		info.warn("the header gives %d bytes a frame, with %s of %d bits there are %d; read with %d",
			h.block, words.Count(h.channels, "channel"), h.bits, frame, frame)
	default:
		h.checkSecond(info, second)
	}
	h.container = container
	h.block = container * h.channels
}

// checkSecond warns where the header's bytes a second are not those of its rate and its bytes a frame.
func (h *header) checkSecond(info *Info, second int64) {
	if h.perSecond != second {
		info.warn("the header gives %d bytes a second, and %d Hz with %d bytes a frame take %d; read with the latter",
			h.perSecond, h.rate, h.block, second)
	}
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

package audio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/go-audio/riff"
)

// Format tags of the fmt chunk (Microsoft's mmreg.h).
const (
	tagPCM        = 0x0001
	tagFloat      = 0x0003
	tagALaw       = 0x0006
	tagMuLaw      = 0x0007
	tagExtensible = 0xFFFE
)

// maxChunks bounds the walk through a file that consists of tiny chunks.
const maxChunks = 10000

// header is where the samples of a file lie and how they are written.
type header struct {
	bigEndian bool
	tag       uint16 // of the samples: the sub-format where the extensible tag is used
	channels  int
	rate      int
	block     int   // bytes of one frame (all channels)
	perSecond int64 // bytes of a second, as the header gives them
	container int   // bytes of one sample
	bits      int   // bits of it that carry sound
	low       bool  // the sound stands in the low 3 of 4 bytes, against the rule
	dataAt    int64 // where the samples start
	samples   int64 // per channel, that are really there
}

// order is the order of the bytes in the file's numbers.
func (h *header) order() binary.ByteOrder {
	if h.bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// format names the coding of the samples.
func (h *header) format() string {
	name := "PCM"
	switch h.tag {
	case tagFloat:
		name = "float"
	case tagALaw:
		return "A-law"
	case tagMuLaw:
		return "mu-law"
	}
	s := fmt.Sprintf("%s, %d bit", name, h.bits)
	if h.container*8 != (h.bits+7)/8*8 {
		s += fmt.Sprintf(" in %d bytes", h.container)
	}
	if h.bigEndian {
		s += ", big-endian"
	}
	return s
}

// readHeader finds format and samples in a file of size bytes. It reads the chunk
// headers and the format chunk, nothing else, and believes no size that it can check.
func readHeader(src io.ReaderAt, size int64, path string) (Info, *header, error) {
	info, h, declared, err := walk(src, size, path)
	if err != nil {
		return Info{}, nil, err
	}
	return h.finish(src, size, h.dataAt, declared, info)
}

// walk goes through the chunks up to the samples, which start at the header's dataAt and have as many bytes as their
// chunk declares.
func walk(src io.ReaderAt, size int64, path string) (info Info, h *header, declared int64, err error) {
	info = Info{Path: path}
	fail := func(format string, args ...any) (Info, *header, int64, error) {
		return Info{}, nil, 0, fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...))
	}
	if size == 0 {
		return fail("the file is empty, 0 bytes (%w)", ErrNoSamples)
	}
	head := make([]byte, min(size, 32))
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return fail("reading the header: %w", err)
	}
	h = &header{}
	rf64 := false
	switch {
	case len(head) < 12:
		if len(head) >= 4 && string(head[:4]) != "RIFF" {
			return Info{}, nil, 0, notRead(path, head)
		}
		return fail("%d bytes are too few for a WAV header (%w)", size, ErrFormat)
	case string(head[8:12]) != "WAVE":
		return Info{}, nil, 0, notRead(path, head)
	case string(head[:4]) == "RIFF":
	case string(head[:4]) == "RIFX":
		h.bigEndian = true
	case string(head[:4]) == "RF64", string(head[:4]) == "BW64":
		rf64 = true
	default:
		return Info{}, nil, 0, notRead(path, head)
	}
	if size == 12 {
		return fail("the file ends after RIFF and WAVE: neither format nor samples (%w)", ErrNoSamples)
	}

	// The walk. r follows at, and each chunk's size is checked against what is left.
	r := io.NewSectionReader(src, 0, size)
	parser := riff.New(r)
	var longSize int64 = -1 // the data size that the ds64 chunk of an RF64 file gives
	var haveFormat bool
	at := int64(12)
	for range maxChunks {
		if size-at < 8 {
			if !haveFormat {
				return fail("no format chunk and no samples in %d bytes; the file may be cut off", size)
			}
			return fail("a format chunk but no samples; the file ends after %d bytes (%w)", size, ErrNoSamples)
		}
		r.Seek(at, io.SeekStart)
		id, n, err := parser.IDnSize()
		if err != nil {
			return fail("reading a chunk at byte %d: %w", at, err)
		}
		if h.bigEndian {
			n = bits.ReverseBytes32(n)
		}
		declared = int64(n)
		at += 8
		left := size - at
		switch string(id[:]) {
		case "fmt ":
			if declared < 16 || declared > left {
				return fail("the format chunk claims %d bytes; 16 or more are needed and the file has %d left", declared, left)
			}
			if err := h.readFormat(parser, src, r, at, declared); err != nil {
				return fail("%w", err)
			}
			if err := h.check(&info); err != nil {
				return fail("%w", err)
			}
			haveFormat = true
		case "ds64":
			if rf64 && declared >= 16 && declared <= left {
				var b [8]byte
				if _, err := src.ReadAt(b[:], at+8); err == nil {
					longSize = int64(binary.LittleEndian.Uint64(b[:]))
				}
			}
		case "data":
			if !haveFormat {
				return fail("samples at byte %d without a format chunk before them: rate and sample format are unknown", at)
			}
			if rf64 && n == 0xFFFFFFFF && longSize >= 0 {
				declared = longSize
			}
			h.dataAt = at
			return info, h, declared, nil
		}
		at = h.behind(src, size, at, declared, string(id[:]), &info)
	}
	return fail("more than %d chunks and no samples among them", maxChunks)
}

// finish settles how much sound there is from byte at on.
func (h *header) finish(src io.ReaderAt, size, at, declared int64, info Info) (Info, *header, error) {
	left := size - at
	n := min(declared, left)
	switch {
	case declared == 0 && left > 0 && !onlyChunks(src, size, at, h.order()):
		n = left
		info.warn("the header gives 0 bytes of samples (a recording that was not closed?); read to the end of the file, %d samples",
			n/int64(h.block))
	case declared > left && declared >= 0x7FFFF000:
		info.warn("the header gives no true size (a stream); read to the end of the file, %d samples", n/int64(h.block))
	case declared > left:
		info.warn("cut off: the header declares %d samples (%d bytes), there are %d samples (%d bytes)",
			declared/int64(h.block), declared, left/int64(h.block), left)
	}
	if n == declared {
		end := h.behind(src, size, at, n, "data", &info)
		if what := h.more(src, size, end); what != "" {
			info.warn("%d samples as the header says; not read is what lies behind them: %s", n/int64(h.block), what)
		}
	}
	h.dataAt, h.samples = at, n/int64(h.block)
	if h.samples == 0 {
		return Info{}, nil, fmt.Errorf("%s: a header but no sound: %d bytes of samples where one frame takes %d (%w)",
			info.Path, n, h.block, ErrNoSamples)
	}
	info.Rate, info.Channels, info.Samples, info.FileSamples, info.Format = h.rate, h.channels, int(h.samples), int(h.samples), h.format()
	return info, h, nil
}

package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// extensible is a format chunk of 40 bytes with the sub-format guid.
func extensible(order binary.AppendByteOrder, channels, rate, bits, valid int, guid []byte) []byte {
	block := channels * ((bits + 7) / 8)
	b := format(order, 0xFFFE, channels, rate, block, bits)[8:]
	b = order.AppendUint16(order.AppendUint16(b, 22), uint16(valid))
	b = order.AppendUint32(b, 0)
	return chunk(order, "fmt ", append(b, guid...))
}

var (
	littlePCM = []byte("\x01\x00\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71")
	bigPCM    = []byte("\x00\x00\x00\x01\x00\x00\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71")
	ambisonic = []byte("\x01\x00\x00\x00\x21\x07\xd3\x11\x86\x44\xc8\xc1\xca\x00\x00\x00")
)

func TestSubFormats(t *testing.T) {
	sound := []byte{0, 0x40, 0, 0xc0}
	want := []float32{0.5, -0.5}
	shorter := func(n int) []byte { return chunk(le, "fmt ", extensible(le, 1, 8000, 16, 16, littlePCM)[8:8+n]) }
	private := slices.Concat(littlePCM[:15], []byte{0x72})
	wide := slices.Concat([]byte{1, 0, 1, 0}, littlePCM[4:])
	for _, c := range []struct {
		name, say string // part of the error, "" for none
		file      []byte
	}{
		{"PCM", "", riffFile(le, "RIFF", extensible(le, 1, 8000, 16, 16, littlePCM), chunk(le, "data", sound))},
		{"0 valid bits are all", "", riffFile(le, "RIFF", extensible(le, 1, 8000, 16, 0, littlePCM), chunk(le, "data", sound))},
		{"PCM, big-endian", "", riffFile(be, "RIFX", extensible(be, 1, 8000, 16, 16, bigPCM), chunk(be, "data", []byte{0x40, 0, 0xc0, 0}))},
		{"a chunk that ends in the sub-format", "", riffFile(le, "RIFF", shorter(26), chunk(le, "data", sound))},
		{"a chunk that ends before it", "needs 40 bytes, the format chunk has 25", riffFile(le, "RIFF", shorter(25), chunk(le, "data", sound))},
		{"a private one that begins like PCM", "unknown sub-format, 00000001-0000-0010-8000-00AA00389B72",
			riffFile(le, "RIFF", extensible(le, 1, 8000, 16, 16, private), chunk(le, "data", sound))},
		{"a number of more than 16 bits", "unknown sub-format, 00010001-0000-0010", riffFile(le, "RIFF", extensible(le, 1, 8000, 16, 16, wide), chunk(le, "data", sound))},
		{"B-format", "ambisonic", riffFile(le, "RIFF", extensible(le, 4, 8000, 16, 16, ambisonic), chunk(le, "data", make([]byte, 80)))},
		{"a known coding that isn't read", "IMA ADPCM", riffFile(le, "RIFF", extensible(le, 1, 8000, 16, 16, append([]byte{0x11}, littlePCM[1:]...)), chunk(le, "data", sound))},
	} {
		_, x, err := decodeBytes(c.file)
		if c.say == "" && (err != nil || !slices.Equal(x, want)) {
			t.Errorf("%s: %v, %v", c.name, x, err)
		}
		if c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%s: %v, %v; want %q", c.name, x, err, c.say)
		}
	}
}

// Headers whose bytes a frame, bytes a second, channels and bits contradict each other.
func TestContradictoryFormats(t *testing.T) {
	build := func(channels, rate, perSecond, block, bits int) []byte {
		b := format(le, 1, channels, rate, block, bits)
		le.PutUint32(b[16:], uint32(perSecond))
		return riffFile(le, "RIFF", b, chunk(le, "data", []byte{0, 0x40, 1, 0x10, 2, 0x30, 3, 0x08, 4, 0x20, 5, 0x02}))
	}
	for _, c := range []struct {
		name                                   string
		channels, perSecond, block, bits, want int    // want: samples of the 12 bytes
		say                                    string // part of the one warning; "" for none
	}{
		{"all agree", 1, 16000, 2, 16, 6, ""},
		{"4 bytes a frame, by all but the bits", 1, 32000, 4, 16, 3, ""},
		{"4 bytes a frame, alone", 1, 16000, 4, 16, 6, "4 bytes a frame and 16000 a second, which do not agree at 8000 Hz; with 1 channel of 16 bits there are 2 bytes a frame"},
		{"2 bytes a frame for 2 channels, alone", 2, 32000, 2, 16, 3, "2 bytes a frame and 32000 a second"},
		{"2 bytes a frame for 2 channels", 2, 16000, 2, 16, 3, "2 bytes a frame, with 2 channels of 16 bits there are 4"},
		{"5 bytes a frame for 2 channels", 2, 40000, 5, 16, 3, "5 bytes a frame, with 2 channels of 16 bits there are 4"},
		{"8 bytes a sample", 1, 64000, 8, 16, 1, ""},
		{"more than 8 bytes a sample", 1, 72000, 9, 16, 6, "9 bytes a frame, with 1 channel of 16 bits there are 2"},
		{"no bytes a second", 1, 0, 2, 16, 6, "0 bytes a second, and 8000 Hz with 2 bytes a frame take 16000"},
		{"bytes a second that fit nothing", 1, 1, 4, 16, 3, "1 bytes a second, and 8000 Hz with 4 bytes a frame take 32000"},
		{"24 bits in 4 bytes, bytes a second by the bits", 1, 24000, 4, 24, 3, "24000 bytes a second, and 8000 Hz with 4 bytes a frame"},
		{"16 bits in 3 bytes, alone", 1, 16000, 3, 16, 6, "3 bytes a frame and 16000 a second"},
	} {
		info, x, err := decodeBytes(build(c.channels, 8000, c.perSecond, c.block, c.bits))
		if err != nil || len(x) != c.want {
			t.Errorf("%s: %d samples, want %d (%v)", c.name, len(x), c.want, err)
		}
		said := slices.DeleteFunc(info.Warnings, func(s string) bool { return strings.Contains(s, "less than one window") })
		if len(said) > 1 || (len(said) == 1) != (c.say != "") || !strings.Contains(strings.Join(said, ""), c.say) {
			t.Errorf("%s: %q, want %q", c.name, said, c.say)
		}
	}
}

// What lies behind the samples is said where it may be sound.
func TestBehindTheSamples(t *testing.T) {
	const rate = 1000 // 10 ms are 10 samples, 20 bytes
	sound := bytes.Repeat([]byte{0, 0x40, 0, 0xc0}, 20)
	whole := riffFile(le, "RIFF", format(le, 1, 1, rate, 2, 16), chunk(le, "data", sound))
	odd := riffFile(le, "RIFF", format(le, 1, 1, rate, 1, 8), chunk(le, "data", sound[:79]))
	list := chunk(le, "LIST", []byte("INFOabc"))
	for _, c := range []struct {
		name  string
		file  []byte
		count int
		say   string
	}{
		{"nothing", whole, 40, ""},
		{"a chunk", slices.Concat(whole, list), 40, ""},
		{"a chunk and a pad byte", slices.Concat(whole, list, []byte{0}), 40, ""},
		{"two chunks", slices.Concat(whole, list, list), 40, ""},
		{"another file", slices.Concat(whole, whole), 40, fmt.Sprintf("behind them: another file of %d bytes", len(whole))},
		{"a big-endian file", slices.Concat(whole, []byte("RIFX"), make([]byte, 30)), 40, "another file of 34 bytes"},
		{"further samples", slices.Concat(whole, list, chunk(le, "data", sound)), 40, "further samples, 88 bytes"},
		{"unmarked samples", slices.Concat(whole, sound), 40, "80 bytes that are no chunk, which would be 40 samples"},
		{"unmarked samples of 10 ms", slices.Concat(whole, sound[:20]), 40, "20 bytes that are no chunk"},
		{"less", slices.Concat(whole, sound[:19]), 40, ""},
		{"bytes that fit as a chunk but for their name", slices.Concat(whole, chunk(le, "\x1fabc", sound)), 40, "88 bytes that are no chunk"},
		{"bytes that fit as a chunk but for the end of their name", slices.Concat(whole, chunk(le, "abc\x7f", sound)), 40, "88 bytes that are no chunk"},
		{"chunks with names of signs", slices.Concat(whole, chunk(le, "    ", sound), chunk(le, "~~~~", sound)), 40, ""},
		{"a last chunk of an odd size without a pad byte", slices.Concat(whole, chunk(le, "LIST", sound[:79])[:87]), 40, ""},
		{"a chunk that goes on behind the end", slices.Concat(whole, chunk(le, "LIST", sound)[:87]), 40, ""},
		{"a chunk that goes on further behind the end", slices.Concat(whole, chunk(le, "LIST", sound)[:86]), 40, "86 bytes that are no chunk"},
		{"a few bytes, and what looks like a file", slices.Concat(whole, make([]byte, 8), []byte("RIFFabcd")), 40, ""},
		{"an odd number and a chunk", slices.Concat(odd, list), 79, ""},
		{"an odd number, no pad byte and a chunk", slices.Concat(odd[:len(odd)-1], list, list), 79, `the chunk "data" of 79 bytes at byte 36 has no pad byte`},
	} {
		info, x, err := decodeBytes(c.file)
		if err != nil || len(x) != c.count {
			t.Errorf("%s: %d samples, want %d (%v)", c.name, len(x), c.count, err)
		}
		if len(info.Warnings) > 1 || (len(info.Warnings) == 1) != (c.say != "") || !strings.Contains(strings.Join(info.Warnings, ""), c.say) {
			t.Errorf("%s: %q, want %q", c.name, info.Warnings, c.say)
		}
	}
}

// The sizes that a header gives, where they are the true ones and where they aren't.
func TestDataSizes(t *testing.T) {
	sound := bytes.Repeat([]byte{0, 0x40, 0, 0xc0}, 20) // 40 samples
	head := format(le, 1, 1, 1000, 2, 16)
	data := func(size uint32) []byte {
		return slices.Concat([]byte("data"), le.AppendUint32(nil, size), sound)
	}
	list := chunk(le, "LIST", bytes.Repeat([]byte("x"), 40))
	ds64 := func(n int, size uint64) []byte {
		b := make([]byte, 28)
		le.PutUint64(b[8:], size)
		return chunk(le, "ds64", b[:n])
	}
	const unknown = 0xFFFFFFFF
	for _, c := range []struct {
		name  string
		file  []byte
		count int
		say   string
	}{
		{"RF64", riffFile(le, "RF64", ds64(28, 80), head, data(unknown), list), 40, ""},
		{"BW64", riffFile(le, "BW64", ds64(28, 80), head, data(unknown), list), 40, ""},
		{"RF64 with a short ds64", riffFile(le, "RF64", ds64(16, 80), head, data(unknown), list), 40, ""},
		{"RF64 with a size of its own", riffFile(le, "RF64", ds64(28, 40), head, data(80), list), 40, ""},
		{"RF64 with a ds64 that is too short", riffFile(le, "RF64", ds64(14, 80), head, data(unknown)), 40, "no true size"},
		{"RF64 without ds64", riffFile(le, "RF64", head, data(unknown)), 40, "no true size"},
		{"RF64 of 0 bytes", riffFile(le, "RF64", ds64(28, 0), head, data(unknown)), 40, "0 bytes of samples"},
		{"RIFF with a ds64", riffFile(le, "RIFF", ds64(28, 40), head, data(unknown)), 40, "no true size"},
		{"a stream", riffFile(le, "RIFF", head, data(unknown)), 40, "no true size (a stream); read to the end of the file, 40 samples"},
		{"a stream by a recorder", riffFile(le, "RIFF", head, data(0x7FFFF000)), 40, "no true size (a stream)"},
		{"a file that is cut off", riffFile(le, "RIFF", head, data(0x7FFFEFFF)), 40, "cut off: the header declares 1073739775 samples"},
		{"a file without its last byte", riffFile(le, "RIFF", head, data(81)), 40, "cut off: the header declares 40 samples (81 bytes), there are 40 samples (80 bytes)"},
		{"0", riffFile(le, "RIFF", head, data(0)), 40, "0 bytes of samples"},
	} {
		info, x, err := decodeBytes(c.file)
		if err != nil || len(x) != c.count {
			t.Errorf("%s: %d samples, want %d (%v)", c.name, len(x), c.count, err)
		}
		if len(info.Warnings) > 1 || (len(info.Warnings) == 1) != (c.say != "") || !strings.Contains(strings.Join(info.Warnings, ""), c.say) {
			t.Errorf("%s: %q, want %q", c.name, info.Warnings, c.say)
		}
	}
}

// A chunk of an odd size without its pad byte before the format or the samples.
func TestNoPadByte(t *testing.T) {
	sound := bytes.Repeat([]byte{0, 0x40, 0, 0xc0}, 300)
	head, samples := format(le, 1, 1, 8000, 2, 16), chunk(le, "data", sound)
	padded := chunk(le, "LIST", bytes.Repeat([]byte("x"), 25))
	bare := padded[:len(padded)-1]
	silentStart := chunk(le, "data", slices.Concat(make([]byte, 20), sound)[:64]) // "ata@" of 0 bytes from the next on
	odd := slices.Concat(bare, []byte("d"))                                       // a pad byte that is not 0
	for _, c := range []struct {
		name     string
		warnings int
		file     []byte
	}{
		{"before the samples", 1, riffFile(le, "RIFF", head, bare, samples)},
		{"before the format", 1, riffFile(le, "RIFF", bare, head, samples)},
		{"before another chunk", 1, riffFile(le, "RIFF", head, bare, chunk(le, "note", []byte("ab")), samples)},
		{"where the bytes from the next on fit as a chunk too", 1, riffFile(le, "RIFF", head, bare, silentStart)},
		{"with a pad byte", 0, riffFile(le, "RIFF", head, padded, samples)},
		{"with a pad byte that is no zero", 0, riffFile(le, "RIFF", head, odd, samples)},
	} {
		info, x, err := decodeBytes(c.file)
		info.Warnings = slices.DeleteFunc(info.Warnings, func(s string) bool { return strings.Contains(s, "less than one window") })
		if err != nil || len(x) < 32 || x[30] != 0.5 || len(info.Warnings) != c.warnings {
			t.Errorf("%s: %d samples, %q, %v", c.name, len(x), info.Warnings, err)
		}
		if c.warnings == 1 && !strings.Contains(info.Warnings[0], `the chunk "LIST" of 25 bytes at byte `) {
			t.Errorf("%s: %q", c.name, info.Warnings)
		}
	}
}

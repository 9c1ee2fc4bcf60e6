package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goaudio "github.com/go-audio/audio"
	"github.com/go-audio/wav"
)

// chunk is a RIFF chunk with its pad byte.
func chunk(order binary.AppendByteOrder, id string, body []byte) []byte {
	b := append([]byte(id), order.AppendUint32(nil, uint32(len(body)))...)
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// riffFile is a whole file of chunks.
func riffFile(order binary.AppendByteOrder, id string, chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(append([]byte(id), order.AppendUint32(nil, uint32(len(body)))...), body...)
}

// format is a format chunk of 16 bytes.
func format(order binary.AppendByteOrder, tag, channels, rate, block, bits int) []byte {
	b := order.AppendUint16(nil, uint16(tag))
	b = order.AppendUint16(b, uint16(channels))
	b = order.AppendUint32(b, uint32(rate))
	b = order.AppendUint32(b, uint32(rate*block))
	b = order.AppendUint16(b, uint16(block))
	return chunk(order, "fmt ", order.AppendUint16(b, uint16(bits)))
}

func decodeBytes(b []byte) (Info, []float32, error) {
	return new(Reader).decode(bytes.NewReader(b), int64(len(b)), "x.wav", 0, 0)
}

var le, be = binary.LittleEndian, binary.BigEndian

func TestSampleFormats(t *testing.T) {
	f32 := func(order binary.AppendByteOrder, v ...float32) []byte {
		var b []byte
		for _, x := range v {
			b = order.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	for _, c := range []struct {
		name string
		file []byte
		want []float32
	}{
		{"8 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 1, 8), chunk(le, "data", []byte{0, 128, 255})), []float32{-1, 0, 127.0 / 128}},
		{"1 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 1, 1), chunk(le, "data", []byte{0, 128})), []float32{-1, 0}},
		{"64 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 8, 64), chunk(le, "data", []byte{0, 0, 0, 0, 0, 0, 0, 0xc0})), []float32{-0.5}},
		{"16 bit at the highest rate", riffFile(le, "RIFF", format(le, 1, 1, MaxRate, 2, 16), chunk(le, "data", []byte{0, 0x40})), []float32{0.5}},
		{"16 bit at the lowest rate", riffFile(le, "RIFF", format(le, 1, 1, MinRate, 2, 16), chunk(le, "data", []byte{0, 0x40})), []float32{0.5}},
		{"16 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), chunk(le, "data", []byte{0, 0x80, 0xff, 0x7f, 1, 0})), []float32{-1, 32767.0 / 32768, 1.0 / 32768}},
		{"16 bit, big-endian", riffFile(be, "RIFX", format(be, 1, 1, 8000, 2, 16), chunk(be, "data", []byte{0x80, 0, 0x7f, 0xff, 0, 1})), []float32{-1, 32767.0 / 32768, 1.0 / 32768}},
		{"24 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 3, 24), chunk(le, "data", []byte{1, 0, 0, 0, 0, 0x80, 0xff, 0xff, 0xff})), []float32{0x1p-23, -1, -0x1p-23}},
		{"24 bit high in 4 bytes", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 24), chunk(le, "data", []byte{0, 1, 0, 0, 0, 0, 0, 0x80})), []float32{0x1p-23, -1}},
		{"24 bit low in 4 bytes", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 24), chunk(le, "data", []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0})), []float32{0x1p-23, -0x1p-23}},
		{"one of 24 bit low in 4 bytes", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 24), chunk(le, "data", []byte{1, 0, 0, 0})), []float32{0x1p-23}},
		{"24 bit low in 4 bytes, with signs", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 24), chunk(le, "data", []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})), []float32{0x1p-23, -0x1p-23}},
		{"24 bit low in 4 bytes, big-endian", riffFile(be, "RIFX", format(be, 1, 1, 8000, 4, 24), chunk(be, "data", []byte{0, 0, 0, 1, 0, 0, 0x80, 0})), []float32{0x1p-23, 0x1p-8}},
		{"24 bit high in 4 bytes, big-endian", riffFile(be, "RIFX", format(be, 1, 1, 8000, 4, 24), chunk(be, "data", []byte{0, 0, 1, 0, 0x80, 0, 0, 0})), []float32{0x1p-23, -1}},
		{"24 bit in the middle of 4 bytes", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 24), chunk(le, "data", []byte{0, 1, 0, 0, 0, 2, 0, 0})), []float32{0x1p-23, 0x1p-22}},
		{"24 bit in 4 bytes that are all in use", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 24), chunk(le, "data", []byte{0, 0, 0, 0x40, 0x80, 0, 0, 0})), []float32{0.5, 0x1p-24}},
		{"24 valid bits of 32, low", riffFile(le, "RIFF", extensible(le, 1, 8000, 32, 24, littlePCM), chunk(le, "data", []byte{1, 0, 0, 0})), []float32{0x1p-23}},
		{"32 valid bits of 32", riffFile(le, "RIFF", extensible(le, 1, 8000, 32, 32, littlePCM), chunk(le, "data", []byte{1, 0, 0, 0})), []float32{0x1p-31}},
		{"32 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 4, 32), chunk(le, "data", []byte{0, 0, 0, 0x40, 0, 0, 0, 0x80})), []float32{0.5, -1}},
		{"40 bit", riffFile(le, "RIFF", format(le, 1, 1, 8000, 5, 40), chunk(le, "data", []byte{0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0x80})), []float32{0.5, -1}},
		{"float, big-endian, 2 channels", riffFile(be, "RIFX", format(be, 3, 2, 8000, 8, 32), chunk(be, "data", f32(be, 3, 1, -0.5, 0))), []float32{2, -0.25}},
		{"3 channels", riffFile(le, "RIFF", format(le, 1, 3, 8000, 6, 16), chunk(le, "data", []byte{0, 0x40, 0, 0x40, 0, 0x40, 0, 0x40, 0, 0, 0, 0})), []float32{0.5, 0.5 / 3}},
		// The ends and the middle of the two G.711 curves.
		{"A-law", riffFile(le, "RIFF", format(le, 6, 1, 8000, 1, 8), chunk(le, "data", []byte{0xAA, 0x2A, 0xD5, 0x55})), []float32{32256.0 / 32768, -32256.0 / 32768, 8.0 / 32768, -8.0 / 32768}},
		{"mu-law", riffFile(le, "RIFF", format(le, 7, 1, 8000, 1, 8), chunk(le, "data", []byte{0x80, 0x00, 0xff, 0x7f})), []float32{32124.0 / 32768, -32124.0 / 32768, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			info, x, err := decodeBytes(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(x, c.want) {
				t.Errorf("%v, want %v (%s)", x, c.want, info.Format)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	data := chunk(le, "data", make([]byte, 80))
	for _, c := range []struct {
		name, say string
		file      []byte
	}{
		{"ADPCM", "IMA ADPCM", riffFile(le, "RIFF", format(le, 0x11, 1, 8000, 1, 4), data)},
		{"unknown", "0x1234", riffFile(le, "RIFF", format(le, 0x1234, 1, 8000, 1, 8), data)},
		{"16-bit float", "16-bit floats", riffFile(le, "RIFF", format(le, 3, 1, 8000, 2, 16), data)},
		{"16-bit A-law", "16-bit A-law; 8 bits are read", riffFile(le, "RIFF", format(le, 6, 1, 8000, 2, 16), data)},
		{"16-bit mu-law", "16-bit mu-law; 8 bits are read", riffFile(le, "RIFF", format(le, 7, 1, 8000, 2, 16), data)},
		{"too slow", "not plausible", riffFile(le, "RIFF", format(le, 1, 1, 999, 2, 16), data)},
		{"65 bits", "65-bit integers", riffFile(le, "RIFF", format(le, 1, 1, 8000, 9, 65), data)},
		{"0 channels", "0 channels", riffFile(le, "RIFF", format(le, 1, 0, 8000, 2, 16), data)},
		{"0 bits", "0-bit integers", riffFile(le, "RIFF", format(le, 1, 1, 8000, 0, 0), data)},
		{"100 bits", "100-bit integers", riffFile(le, "RIFF", format(le, 1, 1, 8000, 13, 100), data)},
		{"too fast", "not plausible", riffFile(le, "RIFF", format(le, 1, 1, 768001, 2, 16), data)},
		{"extensible without a sub-format", "extensible", riffFile(le, "RIFF", format(le, 0xFFFE, 1, 8000, 2, 16), data)},
		{"format cut", "claims 16 bytes", riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16))[:30]},
		{"less than a frame", "one frame takes 4", riffFile(le, "RIFF", format(le, 1, 2, 8000, 4, 16), chunk(le, "data", make([]byte, 3)))},
		{"no data, but tags and a stray byte", "0 bytes of samples", riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), chunk(le, "data", nil), chunk(le, "LIST", []byte("INFOab")), []byte{0})},
		{"no data, but tags", "0 bytes of samples", riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), chunk(le, "data", nil), chunk(le, "LIST", []byte("INFOabc")))},
		{"NaN", "sample 1 is NaN", riffFile(le, "RIFF", format(le, 3, 1, 8000, 4, 32), chunk(le, "data", []byte{0, 0, 0, 0, 0, 0, 0xc0, 0x7f}))},
		{"many chunks", "10000 chunks", riffFile(le, "RIFF", bytes.Repeat(chunk(le, "JUNK", nil), maxChunks+1))},
		{"text", `"hell"`, []byte("hello, this is no sound at all")},
		{"zeros", "zeros", make([]byte, 100)},
		{"MP3 without a tag", "MP3", append([]byte{0xff, 0xfb, 0x90}, make([]byte, 40)...)},
		{"M4A", "M4A", []byte("\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00")},
		{"LFS", "git lfs pull", []byte("version https://git-lfs.github.com/spec/v1\n")},
		{"no bytes", "the file is empty", nil},
		{"RIFF and WAVE alone", "neither format nor samples", []byte("RIFF\x04\x00\x00\x00WAVE")},
		{"half a chunk's head", "no format chunk and no samples in 19 bytes", []byte("RIFF\x04\x00\x00\x00WAVEfmt \x10\x00\x00")},
		{"a format chunk alone", "a format chunk but no samples", riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16))},
		{"samples before the format", "without a format chunk", riffFile(le, "RIFF", data, format(le, 1, 1, 8000, 2, 16))},
		{"a format chunk of 14 bytes", "claims 14 bytes", riffFile(le, "RIFF", chunk(le, "fmt ", make([]byte, 14)), data)},
		{"AVI", "an AVI film", []byte("RIFF\x04\x00\x00\x00AVI LIST")},
		{"four bytes of FLAC", "the FLAC header ends", []byte("fLaC")},
		{"a RIFF file of another kind", `of the kind "PAL " where WAVE is expected`, []byte("RIFF\x04\x00\x00\x00PAL data")},
		{"another start", "is no format that is known", []byte("RIFZ\x04\x00\x00\x00WAVEfmt ")},
		{"five bytes", "5 bytes are too few", []byte("RIFF\x00")},
	} {
		_, _, err := decodeBytes(c.file)
		if err == nil || !strings.Contains(err.Error(), c.say) || !strings.HasPrefix(err.Error(), "x.wav: ") {
			t.Errorf("%s: %v; want %q", c.name, err, c.say)
		}
	}
	dir := t.TempDir()
	if _, err := Probe(File(dir)); err == nil || !strings.Contains(err.Error(), "a folder") {
		t.Errorf("a folder: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for path, say := range map[string]string{os.DevNull: "a device", fmt.Sprintf("/dev/fd/%d", r.Fd()): "a pipe"} {
		if _, err := os.Stat(path); err != nil {
			continue // not on every system
		}
		if _, err := Probe(File(path)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v; want %q", path, err, say)
		}
	}
	if _, _, err := read(filepath.Join(dir, "none.wav")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// broken is a file whose bytes from some place on can't be read, as on a disk that fails.
type broken struct {
	*bytes.Reader
	good int64
}

var errDisk = errors.New("input/output error")

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	n, err := b.Reader.ReadAt(p, at)
	if at+int64(n) <= b.good {
		return n, err
	}
	return int(max(0, b.good-at)), errDisk
}

// Wherever a disk fails, the error is the disk's and names the file.
func TestDiskErrors(t *testing.T) {
	samples := chunk(le, "data", bytes.Repeat([]byte{0, 0x40, 1, 0}, 20))
	for name, file := range map[string][]byte{
		"plain":      riffFile(le, "RIFF", format(le, 1, 1, 1000, 2, 16), samples),
		"floats":     riffFile(le, "RIFF", format(le, 3, 1, 1000, 4, 32), samples),
		"24 in 4":    riffFile(le, "RIFF", format(le, 1, 1, 1000, 4, 24), samples),
		"extensible": riffFile(le, "RIFF", extensible(le, 1, 1000, 16, 16, littlePCM), samples),
	} {
		for good := range int64(len(file)) {
			_, x, err := new(Reader).decode(broken{bytes.NewReader(file), good}, int64(len(file)), "x.wav", 0, 0)
			if !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), "x.wav: ") {
				t.Errorf("%s, %d of %d bytes: %d samples, %v", name, good, len(file), len(x), err)
			}
		}
	}
}

func TestFormatNames(t *testing.T) {
	data := chunk(le, "data", make([]byte, 80))
	for want, file := range map[string][]byte{
		"PCM, 16 bit":               riffFile(le, "RIFF", format(le, 1, 1, 1000, 2, 16), data),
		"PCM, 24 bit":               riffFile(le, "RIFF", format(le, 1, 1, 1000, 3, 24), data),
		"PCM, 24 bit in 4 bytes":    riffFile(le, "RIFF", extensible(le, 1, 1000, 32, 24, littlePCM), data),
		"PCM, 12 bit":               riffFile(le, "RIFF", format(le, 1, 1, 1000, 2, 12), data),
		"float, 32 bit, big-endian": riffFile(be, "RIFX", format(be, 3, 1, 1000, 4, 32), chunk(be, "data", make([]byte, 80))),
		"A-law":                     riffFile(le, "RIFF", format(le, 6, 1, 1000, 1, 8), data),
		"mu-law":                    riffFile(le, "RIFF", format(le, 7, 1, 1000, 1, 8), data),
	} {
		info, _, err := decodeBytes(file)
		if err != nil || info.Format != want {
			t.Errorf("%q, want %q (%v)", info.Format, want, err)
		}
	}
}

// Silence and channels that cancel are told apart, whatever the coding.
func TestSilence(t *testing.T) {
	one, minusOne := []byte{0, 0, 0x80, 0x3f}, []byte{0, 0, 0x80, 0xbf}
	for _, c := range []struct {
		name, say string
		file      []byte
	}{
		{"floats that cancel", "the 2 channels cancel", riffFile(le, "RIFF", format(le, 3, 2, 1000, 8, 32), chunk(le, "data", bytes.Repeat(slices.Concat(one, minusOne), 100)))},
		{"floats that cancel once", "the 2 channels cancel", riffFile(le, "RIFF", format(le, 3, 2, 1000, 8, 32), chunk(le, "data", slices.Concat(one, minusOne, make([]byte, 800))))},
		{"float zeros", "silence: every sample is 0", riffFile(le, "RIFF", format(le, 3, 2, 1000, 8, 32), chunk(le, "data", make([]byte, 800)))},
		{"integers that cancel", "the 2 channels cancel", riffFile(le, "RIFF", format(le, 1, 2, 1000, 4, 16), chunk(le, "data", bytes.Repeat([]byte{1, 0, 255, 255}, 100)))},
		{"integer zeros", "silence: every sample is 0", riffFile(le, "RIFF", format(le, 1, 2, 1000, 4, 16), chunk(le, "data", make([]byte, 400)))},
		{"a constant", "no sound: every sample is 0.5", riffFile(le, "RIFF", format(le, 1, 1, 1000, 2, 16), chunk(le, "data", bytes.Repeat([]byte{0, 0x40}, 100)))},
	} {
		info, _, err := decodeBytes(c.file)
		if err != nil || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], c.say) {
			t.Errorf("%s: %q, %v; want %q", c.name, info.Warnings, err, c.say)
		}
	}
}

// read reads a whole file.
func read(path string) (Info, []float32, error) { return new(Reader).Read(File(path), nil, 0, 0) }

func TestParts(t *testing.T) {
	var body []byte
	for i := range 40000 {
		body = le.AppendUint16(body, uint16(int16(i-20000)))
	}
	path := filepath.Join(t.TempDir(), "count.wav")
	if err := os.WriteFile(path, riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), chunk(le, "data", body)), 0o600); err != nil {
		t.Fatal(err)
	}
	var r Reader
	for _, c := range []struct {
		offset, duration float64
		first, n         int
		warnings         int
	}{
		{0, 0, 0, 40000, 0}, {1, 0, 8000, 32000, 0}, {0.5, 2, 4000, 16000, 0}, {4.999, 1, 39992, 8, 2}, {4.5, 0.505, 36000, 4000, 0}, {0, 5.000001, 0, 40000, 0},
	} {
		info, x, err := r.Read(File(path), nil, c.offset, c.duration)
		if err != nil {
			t.Fatal(err)
		}
		if len(x) != c.n || info.Samples != c.n || x[0] != float32(c.first-20000)/32768 || x[c.n-1] != float32(c.first+c.n-1-20000)/32768 {
			t.Errorf("%v s from %v s: %d samples from %v", c.duration, c.offset, len(x), x[0]*32768+20000)
		}
		if len(info.Warnings) != c.warnings {
			t.Errorf("%v s from %v s: warnings %q", c.duration, c.offset, info.Warnings)
		}
	}
	if _, _, err := r.Read(File(path), nil, 5, 1); !errors.Is(err, ErrNoSamples) || !strings.Contains(err.Error(), "offset 5 s is past the end, the file has 5.000 s") {
		t.Errorf("a part that starts at the end: %v", err)
	}
	for _, c := range [][2]float64{{5, 0}, {100, 1}, {-1, 0}, {0, -1}, {math.NaN(), 0}, {0, math.Inf(1)}, {0, 1e-9}} {
		if _, x, err := r.Read(File(path), nil, c[0], c[1]); err == nil {
			t.Errorf("%v s from %v s gave %d samples", c[1], c[0], len(x))
		}
	}
}

// What go-audio/wav writes is read as it was.
func TestReadsWhatWasWritten(t *testing.T) {
	for _, bits := range []int{16, 24, 32} {
		for _, channels := range []int{1, 2, 5} {
			path := filepath.Join(t.TempDir(), "x.wav")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			in := &goaudio.IntBuffer{Format: &goaudio.Format{NumChannels: channels, SampleRate: 22050}, SourceBitDepth: bits}
			for _, v := range noise(20000*channels, uint64(bits*channels)) {
				in.Data = append(in.Data, int(float64(v)*math.Ldexp(1, bits-1)))
			}
			e := wav.NewEncoder(f, 22050, bits, channels, 1)
			if err := errors.Join(e.Write(in), e.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
			info, x, err := read(path)
			if err != nil || len(info.Warnings) > 0 || info.Channels != channels || info.Rate != 22050 {
				t.Fatalf("%d bits, %d channels: %+v, %v", bits, channels, info, err)
			}
			if len(x) != 20000 {
				t.Fatalf("%d bits, %d channels: %d frames", bits, channels, len(x))
			}
			for i := range x {
				sum := 0.0
				for c := range channels {
					sum += float64(in.Data[i*channels+c])
				}
				// The mean of float64 sums: only the rounding to float32 is left.
				if want := sum / float64(channels) / math.Ldexp(1, bits-1); !(math.Abs(float64(x[i])-want) <= 1e-7) {
					t.Fatalf("%d bits, %d channels: sample %d is %v, written %v", bits, channels, i, x[i], want)
				}
			}
		}
	}
}

// What a file allocates must not depend on its samples: go-audio/wav makes a buffer, a reader, a format and room for
// one sample for each piece, which is all that a longer file may add. The race detector empties the pools that fmt
// draws from at random while the header is read; over many pieces that comes to less than one each.
func TestReaderAllocatesLittle(t *testing.T) {
	const pieces = 32
	allocations := func(bytesOfSound int) float64 {
		file := riffFile(le, "RIFF", format(le, 1, 1, 16000, 2, 16), chunk(le, "data", make([]byte, bytesOfSound)))
		r, src := new(Reader), bytes.NewReader(file)
		return testing.AllocsPerRun(5, func() {
			if _, _, err := r.decode(src, int64(len(file)), "x.wav", 0, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	short, long := allocations(pieceBytes), allocations((1+pieces)*pieceBytes)
	if each := (long - short) / pieces; each > 5 {
		t.Errorf("%v allocations for one piece, %v for %d: %v each", short, long, 1+pieces, each)
	}
}

// No input may panic, claim more than the file holds, or take memory beyond it.
func FuzzRead(f *testing.F) {
	data := chunk(le, "data", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), data))
	f.Add(riffFile(le, "RIFF", format(le, 1, 2, 8000, 8, 24), data))
	f.Add(riffFile(be, "RIFX", format(be, 3, 1, 8000, 4, 32), chunk(be, "data", make([]byte, 8))))
	f.Add(riffFile(le, "RF64", chunk(le, "ds64", make([]byte, 28)), format(le, 6, 1, 8000, 1, 8), data))
	f.Add(riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), chunk(le, "data", nil), []byte("LISTx")))
	f.Add(riffFile(le, "RIFF", format(le, 1, 65535, 8000, 65535, 8), data))
	f.Add([]byte("RIFF\xff\xff\xff\xffWAVEfmt \x28\x00\x00\x00\xfe\xff\x01\x00\x40\x1f\x00\x00\x00\x00\x00\x00\x04\x00\x20\x00\x16\x00\x18\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71data\xff\xff\xff\xff12341234"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := new(Reader)
		info, x, err := r.decode(bytes.NewReader(b), int64(len(b)), "x.wav", 0, 0)
		if cap(r.samples) > 2*len(b)+64 || cap(r.bytes) > 2*len(b)+64 {
			t.Errorf("%d and %d bytes of memory for a file of %d", 4*cap(r.samples), cap(r.bytes), len(b))
		}
		if err != nil {
			return
		}
		if info.Samples != len(x) || len(x) == 0 || len(x) > len(b) || info.Rate < MinRate || info.Rate > MaxRate || info.Channels < 1 {
			t.Errorf("%+v with %d samples from %d bytes", info, len(x), len(b))
		}
		for i, v := range x {
			if v-v != 0 {
				t.Errorf("sample %d is %v", i, v)
			}
		}
		_ = info.Format
	})
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name                     string
		tag, channels, bits, len int
	}{{"16bit", 1, 1, 16, 2}, {"24bit_stereo", 1, 2, 24, 6}, {"float", 3, 1, 32, 4}} {
		b.Run(c.name, func(b *testing.B) {
			const seconds = 8
			file := riffFile(le, "RIFF", format(le, c.tag, c.channels, 16000, c.len, c.bits), chunk(le, "data", make([]byte, seconds*16000*c.len)))
			r, src := new(Reader), bytes.NewReader(file)
			for b.Loop() {
				if _, _, err := r.decode(src, int64(len(file)), "x.wav", 0, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/seconds, "ms/s-of-audio")
		})
	}
}

package audio

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
)

// codedFile is one of testdata: synthetic speech, written by the encoders flac, lame, oggenc and opusenc.
type codedFile struct {
	name, format            string
	rate, channels, samples int // as ffmpeg and libsndfile have them
	drift                   float64
}

// A part of a file is that part of the whole, to the bit. Only Opus keeps a state that reaches back further than is
// decoded before a part: there the difference is drift at most, as a share of the largest sample.
var codedTable = []codedFile{
	{"speech.flac", "FLAC, 8 bit", 8000, 1, 16000, 0},
	{"stereo24.flac", "FLAC, 24 bit", 24000, 2, 4800, 0},
	{"speech.mp3", "MP3, 16 kbit/s", 16000, 1, 198144, 0},
	{"vbr.mp3", "MP3, 34 kbit/s on average", 16000, 1, 48000, 0},
	{"untagged.mp3", "MP3, 32 kbit/s", 22050, 2, 34560, 0},
	{"speech.ogg", "Ogg Vorbis", 8000, 1, 98400, 0},
	{"six.ogg", "Ogg Vorbis", 48000, 6, 19200, 0},
	{"speech.opus", "Ogg Opus", 48000, 1, 590400, 1e-4},
	{"stereo.opus", "Ogg Opus", 48000, 2, 57600, 1e-4},
}

func codedBytes(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// memory is bytes as a Source.
type memory struct {
	name string
	b    []byte
}

func (m memory) Name() string         { return m.name }
func (m memory) Open() (Bytes, error) { return openMemory{bytes.NewReader(m.b)}, nil }

type openMemory struct{ *bytes.Reader }

func (openMemory) Close() error { return nil }

func TestCodedFiles(t *testing.T) {
	for _, c := range codedTable {
		t.Run(c.name, func(t *testing.T) {
			src := memory{"x/" + c.name, codedBytes(t, c.name)}
			probed, err := Probe(src)
			if err != nil {
				t.Fatal(err)
			}
			var r Reader
			info, x, err := r.Read(src, nil, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []Info{probed, info} {
				if i.Rate != c.rate || i.Channels != c.channels || i.Samples != c.samples || i.FileSamples != c.samples ||
					i.Format != c.format || len(i.Warnings) > 0 || i.Path != src.name {
					t.Errorf("%+v, want %+v", i, c)
				}
			}
			if len(x) != c.samples {
				t.Fatalf("%d samples, want %d", len(x), c.samples)
			}
			whole, most := slices.Clone(x), float32(0)
			for _, v := range whole {
				most = max(most, v, -v)
			}
			if most < 0.05 || most > 1.5 {
				t.Errorf("the largest sample is %v", most)
			}

			// Parts, by what is known and without it.
			random := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			for i := range 40 {
				first := random.IntN(c.samples - 1)
				n := 1 + random.IntN(min(c.samples-first, c.rate))
				if i == 0 {
					first = c.samples - n // the end
				}
				known := &probed
				if i%4 == 0 {
					known = nil
				}
				part, x, err := r.Read(src, known, float64(first)/float64(c.rate), float64(n)/float64(c.rate))
				if err != nil || len(x) != n || part.Samples != n || part.FileSamples != c.samples {
					t.Fatalf("samples %d to %d: %+v, %d, %v", first, first+n, part, len(x), err)
				}
				worst := 0.0
				for k, v := range x {
					worst = max(worst, math.Abs(float64(v)-float64(whole[first+k])))
				}
				if worst > c.drift*float64(most) {
					t.Errorf("samples %d to %d differ from the whole by %.3g of the largest", first, first+n, worst/float64(most))
				}
			}
		})
	}
}

// What is known of a recording survives as bytes: parts are read by it, and other or damaged bytes are refused.
func TestInfoAsBytes(t *testing.T) {
	files := map[string][]byte{"plain.wav": riffFile(le, "RIFF", format(le, 1, 1, 8000, 2, 16), chunk(le, "data", bytes.Repeat([]byte{1, 2}, 9000)))}
	for _, c := range codedTable {
		files[c.name] = codedBytes(t, c.name)
	}
	files["cut.mp3"] = files["speech.mp3"][:9000] // with warnings
	for name, b := range files {
		src := memory{name, b}
		info, err := Probe(src)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := info.MarshalBinary()
		if err != nil || len(kept) > 300 {
			t.Errorf("%s: %d bytes, %v", name, len(kept), err)
		}
		again := Info{Path: name}
		if err := again.UnmarshalBinary(kept); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", again) == "" || again.Samples != info.Samples || again.Format != info.Format || !slices.Equal(again.Warnings, info.Warnings) {
			t.Errorf("%s: %+v, want %+v", name, again, info)
		}
		if twice, _ := again.MarshalBinary(); !bytes.Equal(kept, twice) {
			t.Errorf("%s: other bytes the second time", name)
		}
		var r1, r2 Reader
		at, n := info.Seconds()/3, 0.05
		_, x, err1 := r1.Read(src, nil, at, n)
		_, y, err2 := r2.Read(src, &again, at, n)
		if err1 != nil || err2 != nil || !slices.Equal(x, y) {
			t.Errorf("%s: read by what was kept: %v, %v", name, err1, err2)
		}
		// Of another size it is another recording, which is looked at again.
		if other, _, err := r1.Read(memory{name, append(b[:len(b):len(b)], 0)}, &again, 0, 0); err != nil || other.Samples < info.Samples {
			t.Errorf("%s with a byte behind it: %v, %v", name, other, err)
		}
		for i := range kept {
			if err := new(Info).UnmarshalBinary(kept[:i]); err == nil {
				t.Errorf("%s: %d of %d bytes are taken", name, i, len(kept))
			}
		}
		old := slices.Clone(kept)
		old[0]++
		if err := again.UnmarshalBinary(old); err == nil || !strings.Contains(err.Error(), "another version") {
			t.Errorf("another version: %v", err)
		}
	}
}

// A file that is cut off anywhere is an error, or gives the samples that are there with one warning.
func TestCutOff(t *testing.T) {
	for _, c := range codedTable {
		b := codedBytes(t, c.name)
		var r Reader
		_, x, err := r.Read(memory{c.name, b}, nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		whole := slices.Clone(x)
		random := rand.New(rand.NewPCG(2, 3))
		read := 0
		for range 30 {
			n := random.IntN(len(b))
			if random.IntN(2) == 0 {
				n = len(b) - 1 - random.IntN(len(b)/10)
			}
			info, x, err := r.Read(memory{c.name, b[:n]}, nil, 0, 0)
			if err != nil {
				if !strings.HasPrefix(err.Error(), c.name+": ") {
					t.Errorf("%s, %d of %d bytes: %v", c.name, n, len(b), err)
				}
				continue
			}
			read++
			if len(x) > len(whole)+2*1152 || c.drift == 0 && len(x) <= len(whole) && !slices.Equal(x, whole[:len(x)]) {
				t.Errorf("%s, %d of %d bytes: other samples, %d of %d", c.name, n, len(b), len(x), len(whole))
			}
			if len(info.Warnings) == 0 || !strings.Contains(strings.Join(info.Warnings, "\n"), "cut off") {
				if c.name != "untagged.mp3" { // whose frames may end anywhere
					t.Errorf("%s, %d of %d bytes: %d samples and no warning but %q", c.name, n, len(b), len(x), info.Warnings)
				}
			}
		}
		if read < 2 {
			t.Errorf("%s: %d of 30 cut files are read", c.name, read)
		}
	}
}

// Damage is an error that names the file, or is heard; never a panic.
func TestDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	for _, c := range codedTable {
		whole := codedBytes(t, c.name)
		failed := 0
		for range 25 {
			b := slices.Clone(whole)
			for range 1 + random.IntN(4) {
				b[random.IntN(len(b))] ^= byte(1 << random.IntN(8))
			}
			info, x, err := new(Reader).Read(memory{c.name, b}, nil, 0, 0)
			if err != nil {
				failed++
				if !strings.HasPrefix(err.Error(), c.name+": ") {
					t.Errorf("%s: %v", c.name, err)
				}
			} else if len(x) != info.Samples {
				t.Errorf("%s: %d samples of %d", c.name, len(x), info.Samples)
			}
		}
		if checked := !strings.HasSuffix(c.name, ".mp3"); checked && failed < 12 { // the others have checksums
			t.Errorf("%s: only %d of 25 damaged files are errors", c.name, failed)
		}
	}
}

// FLAC of every depth and number of channels gives value/2^(bits-1), to the bit, averaged as WAV's are.
func TestFLACValues(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	for _, c := range []struct{ bits, channels, rate int }{
		{8, 1, 24000}, {12, 2, 11025}, {16, 1, 16000}, {16, 2, 176400}, {16, 8, 44100}, {20, 3, 48000}, {24, 1, 24000}, {24, 6, 96000}, {24, 2, 12345},
	} {
		const block, blocks = 400, 3
		var frames [][]int32 // by channel
		for range c.channels {
			x := make([]int32, block*blocks)
			for i := range x {
				x[i] = int32(random.IntN(1<<c.bits) - 1<<(c.bits-1))
			}
			frames = append(frames, x)
		}
		b := encodeFLAC(t, c.bits, c.rate, block, frames)
		_, x, err := new(Reader).Read(memory{"x.flac", b}, nil, 0, 0)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for i, v := range x {
			sum := 0.0
			for ch := range frames {
				sum += float64(frames[ch][i]) / float64(int(1)<<(c.bits-1))
			}
			if want := float32(sum * (1 / float64(c.channels))); v != want {
				t.Fatalf("%+v: sample %d is %v, want %v", c, i, v, want)
			}
		}
	}
}

// encodeFLAC writes a FLAC file of verbatim frames.
func encodeFLAC(t testing.TB, bits, rate, block int, channels [][]int32) []byte {
	var b bytes.Buffer
	info := &meta.StreamInfo{BlockSizeMin: uint16(block), BlockSizeMax: uint16(block), SampleRate: uint32(rate), NChannels: uint8(len(channels)), BitsPerSample: uint8(bits)}
	enc, err := flac.NewEncoder(&b, info)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(channels[0]); from += block {
		f := &frame.Frame{Header: frame.Header{HasFixedBlockSize: true, BlockSize: uint16(block), SampleRate: uint32(rate), Channels: frame.Channels(len(channels) - 1), BitsPerSample: uint8(bits), Num: uint64(from / block)}}
		for _, x := range channels {
			f.Subframes = append(f.Subframes, &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, Samples: x[from : from+block], NSamples: block})
		}
		if err := enc.WriteFrame(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// In a long FLAC file a part is found by halving, without STREAMINFO's number of samples and without reading the rest.
func TestLongFLAC(t *testing.T) {
	const n, block = 1 << 20, 1024
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(int16(i * 7919))
	}
	b := encodeFLAC(t, 16, 16000, block, [][]int32{x})
	src := &counted{Reader: bytes.NewReader(b)}
	var r Reader
	for _, first := range []int{0, 1, block - 1, block, n / 2, n - 100} {
		src.bytes = 0
		info, got, err := r.decode(src, int64(len(b)), "x.flac", float64(first)/16000, 100.0/16000)
		if err != nil || info.FileSamples != n || len(got) != 100 {
			t.Fatalf("from %d on: %+v, %v", first, info, err)
		}
		for i, v := range got {
			if want := float32(x[first+i]) / 32768; v != want {
				t.Fatalf("sample %d is %v, want %v", first+i, v, want)
			}
		}
		if src.bytes > 1<<20 {
			t.Errorf("from %d on: %d bytes of %d were read", first, src.bytes, len(b))
		}
	}
}

type counted struct {
	*bytes.Reader
	bytes int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.bytes += n
	return n, err
}

// Formats that are not read are named, with the command that converts them.
func TestNotRead(t *testing.T) {
	pad := make([]byte, 200)
	aac := bytes.Repeat([]byte("\xff\xf1\x50\x80\x02\x1f\xfc123456789"), 8)
	ogg := func(head string) []byte {
		b := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
		b = append(append(b, 1, byte(len(head))), head...)
		sum := oggCRC(0, b)
		le.PutUint32(b[22:], sum)
		return b
	}
	for name, c := range map[string]struct {
		file []byte
		say  string
	}{
		"a.m4a":      {append([]byte("\x00\x00\x00\x20ftypM4A "), pad...), "MP4 or M4A"},
		"a.webm":     {append([]byte("\x1aE\xdf\xa3"), pad...), "WebM"},
		"a.amr":      {append([]byte("#!AMR\n"), pad...), "AMR"},
		"a.wma":      {append([]byte("\x30\x26\xb2\x75"), pad...), "WMA"},
		"a.aiff":     {append([]byte("FORM\x00\x00\x00\x00AIFF"), pad...), "AIFF"},
		"a.sph":      {append([]byte("NIST_1A\n"), pad...), "SPHERE"},
		"a.aac":      {aac, "AAC"},
		"tag.aac":    {append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), aac...), "AAC"},
		"a.mp2":      {append([]byte("\xff\xfd\x84\x00"), pad...), "layer II"},
		"low.mp3":    {bytes.Repeat(append([]byte("\xff\xe3\x14\xc4"), pad[:44]...), 4), "MPEG-2.5, 12000 Hz"},
		"free.mp3":   {append([]byte("\xff\xfb\x00\xc4"), pad...), "free format"},
		"flac.ogg":   {ogg("\x7fFLAC\x01\x00"), "FLAC in an Ogg file"},
		"a.spx":      {ogg("Speex   1.2"), "Ogg Speex"},
		"film.ogv":   {ogg("\x80theora"), "Ogg file of another kind"},
		"ima.wav":    {riffFile(le, "RIFF", format(le, 0x11, 1, 8000, 1, 4), chunk(le, "data", pad)), "IMA ADPCM"},
		"with it.au": {append([]byte(".snd"), pad...), "AU file"},
	} {
		_, err := Probe(memory{"in a/" + name, c.file})
		command := "ffmpeg -i 'in a/" + name + "' -ac 1 -c:a flac 'in a/" + strings.TrimSuffix(name, filepath.Ext(name)) + ".flac'"
		if err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), command) {
			t.Errorf("%s: %v; want %q and %s", name, err, c.say, command)
		}
	}
}

// A decoder takes no more than is said of it, all that it allocates for a short part taken together.
func TestDecoderBytes(t *testing.T) {
	for _, c := range codedTable {
		src := memory{c.name, codedBytes(t, c.name)}
		info, err := Probe(src)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		var r Reader
		runtime.ReadMemStats(&before)
		if _, _, err := r.Read(src, &info, info.Seconds()/2, 0.001); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > info.DecoderBytes() {
			t.Errorf("%s: %d bytes, %d are said", c.name, took, info.DecoderBytes())
		}
	}
}

// How fast each format is decoded, as a multiple of real time, in one goroutine.
func BenchmarkDecode(b *testing.B) {
	for _, c := range codedTable {
		b.Run(c.name, func(b *testing.B) {
			src := memory{c.name, codedBytes(b, c.name)}
			info, err := Probe(src)
			if err != nil {
				b.Fatal(err)
			}
			var r Reader
			for b.Loop() {
				if _, _, err := r.Read(src, &info, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(info.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
		})
	}
}

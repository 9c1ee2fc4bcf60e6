package audio

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// louder is samples of a tone that gets louder, with some noise.
func louder(n int) []int32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(8000*math.Sin(float64(i)/9)*float64(i)/float64(n)) + r.Int32N(200)
	}
	return x
}

// wholeFLAC is a FLAC file that gives its number of samples.
func wholeFLAC(t *testing.T, rate, block, n int) []byte {
	b := encodeFLAC(t, 16, rate, block, [][]int32{louder(n)})
	info := b[4+4+10:] // where STREAMINFO's 36 bits for it end a number of 64
	binary.BigEndian.PutUint64(info, binary.BigEndian.Uint64(info)|uint64(n))
	return b
}

func mustRead(t *testing.T, b []byte, offset, duration float64) (Info, []float32) {
	t.Helper()
	var r Reader
	info, x, err := r.Read(memory{"x", b}, nil, offset, duration)
	if err != nil {
		t.Fatal(err)
	}
	return info, slices.Clone(x)
}

var (
	id3v1 = append([]byte("TAG"), make([]byte, 125)...)
	id3v2 = append([]byte("ID3\x04\x00\x00\x00\x00\x00\x28"), bytes.Repeat([]byte{0xff, 0xfb, 0x90, 0x64}, 10)...)
)

// The samples of FLAC files that were joined are those of each, one after the other, of any part too.
func TestJoinedFLAC(t *testing.T) {
	const rate = 16000
	first := wholeFLAC(t, rate, 4096, 81920)
	short := wholeFLAC(t, rate, 4608, 27648)
	large := wholeFLAC(t, rate, 4096, 696320)
	other := wholeFLAC(t, 8000, 4096, 8192)
	for _, c := range []struct {
		name  string
		parts [][]byte
	}{
		{"twice", [][]byte{first, first}},
		{"long and short", [][]byte{first, short}},
		{"short and long", [][]byte{short, first}},
		{"five", [][]byte{short, short, first, short, short}},
		{"with tags between", [][]byte{first, id3v1, short, id3v2, short}},
		{"large ones", [][]byte{large, large}},
		{"three large ones", [][]byte{large, large, large}},
		{"large and short", [][]byte{large, short}},
	} {
		var want []float32
		files := 0
		for _, p := range c.parts {
			if starts(p, "fLaC") {
				_, x := mustRead(t, p, 0, 0)
				want = append(want, x...)
				files++
			}
		}
		b := bytes.Join(c.parts, nil)
		info, got := mustRead(t, b, 0, 0)
		if !slices.Equal(got, want) || info.Samples != len(want) {
			t.Errorf("%s: %d samples, want %d", c.name, len(got), len(want))
			continue
		}
		if len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "FLAC files joined into one; read one after the other") {
			t.Errorf("%s: warnings %q", c.name, info.Warnings)
		}
		known, err := Probe(memory{"x", b})
		if err != nil {
			t.Fatal(err)
		}
		kept, _ := known.MarshalBinary()
		again := Info{Path: "x"}
		if err := again.UnmarshalBinary(kept); err != nil {
			t.Fatal(err)
		}
		var r Reader
		for at := 0; at < len(want); at += 17011 {
			n := min(30000, len(want)-at)
			_, x, err := r.Read(memory{"x", b}, &again, float64(at)/rate, float64(n)/rate)
			if err != nil || !slices.Equal(x, want[at:at+n]) {
				t.Fatalf("%s: the part of %d samples from %d on differs: %v", c.name, n, at, err)
			}
		}
	}

	info, x := mustRead(t, slices.Concat(first, other, short), 0, 0)
	if len(x) != 81920 || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "81920 samples; not read are the") ||
		!strings.Contains(info.Warnings[0], "it has 8000 Hz and 1 channel") {
		t.Errorf("another rate behind: %d samples, %q", len(x), info.Warnings)
	}
	if info, x = mustRead(t, slices.Concat(large, []byte("fLaC\x00\x00\x00\x22 and nothing")), 0, 0); len(x) != 696320 || len(info.Warnings) != 1 {
		t.Errorf("a broken one behind: %d samples, %q", len(x), info.Warnings)
	}
}

// A large file whose sound is spread evenly isn't looked through.
func TestLargeFLACIsAlone(t *testing.T) {
	b := wholeFLAC(t, 16000, 4096, 1<<20)
	if len(b) <= flacSmall {
		t.Fatalf("%d bytes are too few for the test", len(b))
	}
	info := Info{}
	s, total, err := readFLAC(bytes.NewReader(b), 0, int64(len(b)), &info)
	if err != nil || total != 1<<20 || !s.isAlone(bytes.NewReader(b)) {
		t.Errorf("%d samples: %v", total, err)
	}
}

// MP3 files with tags between them are read as a whole, as those without are.
func TestJoinedMP3(t *testing.T) {
	for _, name := range []string{"speech.mp3", "untagged.mp3", "vbr.mp3"} {
		b := codedBytes(t, name)
		plain, want := mustRead(t, slices.Concat(b, b), 0, 0)
		_, once := mustRead(t, b, 0, 0)
		if len(want) < 2*len(once) {
			t.Errorf("%s: %d samples, and %d when joined", name, len(once), len(want))
		}
		for between, tags := range map[string][]byte{"ID3v1": id3v1, "ID3v2": id3v2, "both": slices.Concat(id3v1, id3v2)} {
			info, got := mustRead(t, slices.Concat(b, tags, b, id3v1), 0, 0)
			if !slices.Equal(got, want) || len(info.Warnings) != len(plain.Warnings) {
				t.Errorf("%s, %s between: %d samples, want %d; %q", name, between, len(got), len(want), info.Warnings)
			}
		}
	}
}

// Whatever lies behind the sound and is no tag is told, and so is what lies behind a tag.
func TestTrailingBytesAreTold(t *testing.T) {
	junk := bytes.Repeat([]byte("no sound "), 500)
	for _, name := range []string{"speech.flac", "stereo24.flac", "speech.mp3", "untagged.mp3", "speech.ogg", "speech.opus"} {
		b := codedBytes(t, name)
		clean, want := mustRead(t, b, 0, 0)
		for what, behind := range map[string]struct {
			b    []byte
			told string
		}{
			"junk":            {junk, "4500 bytes"},
			"a tag":           {id3v1, ""},
			"a tag and junk":  {slices.Concat(id3v1, junk), "4500 bytes"},
			"half of a tag":   {id3v1[:100], "100 bytes"},
			"two tags":        {slices.Concat(id3v2, id3v1), ""},
			"zeros":           {make([]byte, 5000), "5000 bytes"},
			"another's sound": {slices.Concat(id3v1, codedBytes(t, "six.ogg")[:2000]), "2000 bytes"},
		} {
			info, got := mustRead(t, slices.Concat(b, behind.b), 0, 0)
			said := strings.Join(info.Warnings[len(clean.Warnings):], "\n")
			if !slices.Equal(got, want) || !strings.Contains(said, behind.told) || (said == "") != (behind.told == "") {
				t.Errorf("%s and %s: %d samples of %d, %q", name, what, len(got), len(want), said)
			}
		}
	}
}

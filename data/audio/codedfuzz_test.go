package audio

import (
	"bytes"
	"testing"
	"time"
)

// fuzzCoded holds that no input panics, runs on, claims what isn't there, or takes memory out of proportion, and that a
// part is found in whatever the whole is. seeds are files of testdata, and prefixes of them.
func fuzzCoded(f *testing.F, most int, seeds ...string) {
	for _, name := range seeds {
		b := codedBytes(f, name)
		f.Add(b[:min(len(b), 6000)])
		f.Add(b[:min(len(b), 500)])
		f.Add(append(bytes.Clone(b[:min(len(b), 3000)]), b[len(b)-1500:]...))
		f.Add(append(bytes.Clone(b[:min(len(b), 6000)]), b[:min(len(b), 6000)]...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		began := time.Now()
		r := new(Reader)
		info, x, err := r.decode(bytes.NewReader(b), int64(len(b)), "x", 0, 0)
		if cap(r.samples) > 2*(most*len(b)+surely) {
			t.Errorf("room for %d samples for a file of %d bytes", cap(r.samples), len(b))
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%d bytes took %v", len(b), took)
		}
		if err != nil {
			return
		}
		if info.Samples != len(x) || len(x) == 0 || info.Rate < MinRate || info.Rate > MaxRate || info.Channels < 1 {
			t.Errorf("%+v with %d samples from %d bytes", info, len(x), len(b))
		}
		for i, v := range x {
			if v-v != 0 {
				t.Fatalf("sample %d is %v", i, v)
			}
		}
		kept, err := info.MarshalBinary()
		again := Info{Path: "x"}
		if err != nil || again.UnmarshalBinary(kept) != nil {
			t.Errorf("%+v is not the same as bytes", info)
		}
		part, y, err := r.decode(bytes.NewReader(b), int64(len(b)), "x", info.Seconds()/2, 0)
		if err == nil && part.Samples != len(y) {
			t.Errorf("%+v with %d samples", part, len(y))
		}
	})
}

// The most samples that a byte of each format can stand for: a frame of one constant, a packet of one byte.
func FuzzFLAC(f *testing.F)   { fuzzCoded(f, 65536/8, "speech.flac", "stereo24.flac") }
func FuzzMP3(f *testing.F)    { fuzzCoded(f, 1152/24, "speech.mp3", "vbr.mp3", "untagged.mp3") }
func FuzzVorbis(f *testing.F) { fuzzCoded(f, 8192, "speech.ogg", "six.ogg") }
func FuzzOpus(f *testing.F)   { fuzzCoded(f, opusLongest, "speech.opus", "stereo.opus") }

// What is kept of a recording is read from a disk.
func FuzzInfo(f *testing.F) {
	for _, c := range codedTable {
		info, err := Probe(memory{c.name, codedBytes(f, c.name)})
		if err != nil {
			f.Fatal(err)
		}
		b, _ := info.MarshalBinary()
		f.Add(b)
	}
	sound := codedBytes(f, "speech.ogg")
	f.Fuzz(func(t *testing.T, b []byte) {
		info := Info{Path: "x"}
		if info.UnmarshalBinary(b) != nil {
			return
		}
		info.size = int64(len(sound)) // wrong or not, it must not be followed out of the file
		var r Reader
		r.Read(memory{"x", sound}, &info, 0, min(info.Seconds(), 1))
		if cap(r.samples) > 1<<22 {
			t.Errorf("room for %d samples", cap(r.samples))
		}
	})
}

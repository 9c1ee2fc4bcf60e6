package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"

	"konkanitrain/data"
)

// encodeFLAC writes samples of one channel and 16 bits as a FLAC file.
func encodeFLAC(t *testing.T, samples []int) []byte {
	t.Helper()
	const block = 4096
	var b bytes.Buffer
	info := &meta.StreamInfo{
		BlockSizeMin: block, BlockSizeMax: block, SampleRate: rate, NChannels: 1, BitsPerSample: 16, NSamples: uint64(len(samples)),
	}
	enc, err := flac.NewEncoder(&b, info)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(samples); from += block {
		n := min(block, len(samples)-from)
		sub := &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, NSamples: n}
		for _, v := range samples[from : from+n] {
			sub.Samples = append(sub.Samples, int32(v))
		}
		err := enc.WriteFrame(&frame.Frame{
			Header:    frame.Header{HasFixedBlockSize: true, BlockSize: uint16(n), SampleRate: rate, Channels: frame.ChannelsMono, BitsPerSample: 16},
			Subframes: []*frame.Subframe{sub},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A WAV and a FLAC file of one sound are the same sound.
func TestSameInAnyContainer(t *testing.T) {
	train, test := clean()
	train[9].Text = train[3].Text
	samples := train[3].samples
	train[9].samples = nil
	dir := t.TempDir()
	path := filepath.Join(dir, "9.flac")
	if err := os.WriteFile(path, encodeFLAC(t, samples), 0o666); err != nil {
		t.Fatal(err)
	}
	train[9].Sound = path
	r := look(t, load(t, train, test), Options{})
	if got := fmt.Sprint(found(r)); got != "map[same_sound:[train:10]]" {
		t.Error(got)
	}
	if n := len(r.Sets[0].Formats); n != 2 {
		t.Errorf("%d formats", n)
	}
}

// In the bundled example nothing is found: its words are few and in every set, but no sound is.
func TestExample(t *testing.T) {
	var sets []Part
	for _, name := range []string{"train", "validation", "test"} {
		set, err := data.Load(t.Context(), filepath.Join("..", "..", "examples", "konkani_words", name+".jsonl"), data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		role := HeldOut
		if name == "train" {
			role = Train
		}
		sets = append(sets, Part{set, role})
	}
	r := look(t, sets, Options{})
	for _, f := range r.Findings {
		t.Errorf("%s: %s", f.Kind, f.Title)
	}
	for _, o := range r.Overlaps {
		if o.Sound != 0 || o.Text != o.Of || o.Speaker != 0 {
			t.Errorf("%+v", o)
		}
	}
	if s := r.Sets[0]; s.Used != 320 || s.Recordings != 320 || s.Texts.Different != 40 || s.Texts.Words != 320 || s.Heard != 320 {
		t.Errorf("%+v", s)
	}
}

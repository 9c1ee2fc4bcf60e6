package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/testkit"
)

// noiseFolder is a folder of sound files and others: three good ones of 0.5 to 1.5 s, one of 8 kHz, one of silence, one
// that is none.
func noiseFolder(t *testing.T) string {
	silence := wav(4000, 16000)
	clear(silence[44:])
	return corpus(t, map[string]string{
		"low/d.WAV": string(wav(4000, 8000)), "silent.wav": string(silence), "broken.flac": "no sound", "README.txt": "noise", "._a.wav": "of a Mac",
	})
}

func loadedNoise(t *testing.T, limit int64, manifests ...string) *Noise {
	t.Helper()
	n, err := loadNoise(t.Context(), manifests, Options{SampleRate: 16000, MaxDuration: 0.2, MaxTextLength: 1}, limit)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func names(n *Noise) (list []string) {
	for _, r := range n.Recordings {
		list = append(list, fmt.Sprintf("%s %d", r.Name, r.Len()))
	}
	return list
}

// A folder gives its sound files in the order of their paths, at one rate. What is no sound, or silent, is named, and
// the result doesn't depend on the number of workers.
func TestNoiseFolder(t *testing.T) {
	dir := noiseFolder(t)
	want := []string{"audio/a.wav 8000", "audio/b.wav 16000", "audio/c.wav 24000", "low/d.WAV 8000"}
	for _, workers := range []int{0, 1, 7} {
		n := loadedNoise(t, noiseBytes, dir)
		if got := n.Report().reported(Unreadable); len(got) != 1 || n.Report().Notes[0].ID != "broken.flac" {
			t.Errorf("left out: %v", n.Report())
		}
		if got, want := n.Pending(), int64(2*(8000+16000+24000+8000+4000)); got != want {
			t.Errorf("%d bytes to come, want %d", got, want)
		}
		left, err := n.Read(t.Context(), workers)
		if err != nil || len(left) != 1 || !strings.HasSuffix(left[0].String(), " ("+dir+"): no sound in it: all samples are equal") {
			t.Fatalf("left out: %v, %v", left, err)
		}
		if got := names(n); !slices.Equal(got, want) {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
		if n.Pending() != 0 || n.String() != "4 recordings, 3.5 s" {
			t.Errorf("%d bytes to come, %v", n.Pending(), n)
		}
	}
}

// Lists need no text, and one that is there is of no matter; archives and several manifests are read as others are.
func TestNoiseManifests(t *testing.T) {
	dir := corpus(t, map[string]string{
		"bare.jsonl":  `{"audio_filepath": "audio/a.wav"}` + "\n" + `{"audio_filepath": "audio/c.wav", "offset": 0.5, "duration": 0.25, "text": null}`,
		"texts.jsonl": `{"audio_filepath": "audio/b.wav", "text": "rain and wind"}` + "\n" + `{"audio_filepath": "audio/none.wav", "text": ""}` + "\n{",
		"table.tsv":   "path\tsentence\naudio/c.wav\t\n",
	})
	tarOf(t, filepath.Join(dir, "x.tar"), map[string]string{"a": filepath.Join(dir, "audio", "a.wav"), "b": filepath.Join(dir, "audio", "b.wav")}, nil)
	for _, c := range []struct {
		list string
		want []string
		left int
	}{
		{"bare.jsonl", []string{"audio/a.wav 8000", "audio/c.wav@0.5 4000"}, 0},
		{"texts.jsonl", []string{"audio/b.wav 16000"}, 2},
		{"table.tsv", []string{"audio/c.wav 24000"}, 0},
		{"x.tar", []string{"a 8000", "b 16000"}, 0},
		{"bare.jsonl table.tsv", []string{"audio/a.wav 8000", "audio/c.wav@0.5 4000", "audio/c.wav 24000"}, 0},
	} {
		var paths []string
		for _, name := range strings.Fields(c.list) {
			paths = append(paths, filepath.Join(dir, name))
		}
		n := loadedNoise(t, noiseBytes, paths...)
		if _, err := n.Read(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, note := range n.Report().Notes {
			if note.Skipped {
				left++
			}
		}
		if got := names(n); !slices.Equal(got, c.want) || left != c.left {
			t.Errorf("%s: %v with %d left out, want %v with %d", c.list, got, left, c.want, c.left)
		}
	}
}

// Where not all fits, the longest are cut, all to the same length, and what is kept is within the limit.
func TestNoiseIsLimited(t *testing.T) {
	dir := noiseFolder(t)
	for _, c := range []struct {
		limit int64
		want  []string
		said  string
	}{
		{2 * 40_000, []string{"audio/a.wav 8000", "audio/b.wav 10000", "audio/c.wav 10000", "low/d.WAV 8000"}, "4 recordings, 3.5 s; of 2 longer ones the first 0.6 s are kept"},
		{2 * 5000, []string{"audio/a.wav 1000", "audio/b.wav 1000", "audio/c.wav 1000", "low/d.WAV 1000"}, "4 recordings, 3.5 s; of 4 longer ones the first 0.1 s are kept"},
	} {
		n := loadedNoise(t, c.limit, dir)
		if n.Pending() > c.limit {
			t.Errorf("%d bytes under a limit of %d", n.Pending(), c.limit)
		}
		if _, err := n.Read(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if got := names(n); !slices.Equal(got, c.want) || n.String() != c.said {
			t.Errorf("%v (%v), want %v (%s)", got, n, c.want, c.said)
		}
	}
	for _, c := range []struct {
		numbers     []int
		total, want int
	}{{[]int{5, 1, 3}, 9, 5}, {[]int{5, 1, 3}, 8, 4}, {[]int{5, 1, 3}, 3, 1}, {[]int{5, 5, 5}, 14, 4}, {[]int{7}, 0, 0}} {
		if got := fair(c.numbers, c.total); got != c.want {
			t.Errorf("%v under %d are cut to %d, want %d", c.numbers, c.total, got, c.want)
		}
	}
}

// A long recording is read in stretches of a bounded length, whose sound is that of the whole at once, whatever the
// rates and wherever in the file it lies; what fails in a later one is the recording's error.
func TestNoiseInStretches(t *testing.T) {
	for _, c := range []struct {
		rate, to int
		offset   float64
	}{{8000, 8000, 0}, {8000, 16000, 0}, {11025, 16000, 1.5}, {16000, 8000, 0.3}} {
		n := c.rate * 65
		path := filepath.Join(corpus(t, map[string]string{"long.wav": string(wav(n, c.rate))}), "long.wav")
		source := audio.File(path)
		info, err := audio.Probe(source)
		if err != nil {
			t.Fatal(err)
		}
		u := &Utterance{Recording: &Recording{Source: source, Info: info}, Offset: c.offset, Duration: 65 - c.offset}
		ratio, err := audio.Convert(c.rate, c.to, audio.Ratio{})
		if err != nil {
			t.Fatal(err)
		}
		var whole audio.Reader
		_, wave, err := whole.Read(source, nil, c.offset, u.Duration)
		if err != nil {
			t.Fatal(err)
		}
		want := audio.NewResampler().Resample(nil, wave, ratio)
		want = want[:len(want)-c.to/2] // what is kept
		x := noiseReader{resampler: audio.NewResampler()}
		var got []float32
		for stretch, err := range x.stretches(u, ratio, len(want)) {
			if err != nil || len(stretch) > noiseStretch*c.to {
				t.Fatalf("%+v: a stretch of %d samples, %v", c, len(stretch), err)
			}
			got = append(got, stretch...)
		}
		if len(got) != len(want) || len(got) <= 2*noiseStretch*c.to || cap(x.wave) > 2*noiseStretch*c.to {
			t.Fatalf("%+v: %d samples in memory for %d, want %d", c, len(got), cap(x.wave), len(want))
		}
		for i, v := range got {
			if !(math.Abs(float64(v-want[i])) <= 1e-6) { // roundings of sums in another order
				t.Fatalf("%+v: sample %d is %v, want %v", c, i, v, want[i])
			}
		}
		if err := os.Truncate(path, int64(44+2*40*c.rate)); err != nil {
			t.Fatal(err)
		}
		if _, err := x.read(u, c.to, len(want)); err == nil {
			t.Errorf("%+v: a file that was cut in its second stretch was taken", c)
		}
	}
}

// The identity is that of names and lengths.
func TestNoiseIdentity(t *testing.T) {
	identity := func(dir string, limit int64) string {
		n := loadedNoise(t, limit, dir)
		if _, err := n.Read(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		return n.Identity()
	}
	dir := noiseFolder(t)
	one := identity(dir, noiseBytes)
	if again := identity(noiseFolder(t), noiseBytes); again != one {
		t.Error("the same files elsewhere are others")
	}
	if identity(dir, 2*5000) == one {
		t.Error("cut recordings are the same")
	}
	if err := os.Rename(filepath.Join(dir, "audio", "a.wav"), filepath.Join(dir, "audio", "z.wav")); err != nil {
		t.Fatal(err)
	}
	if identity(dir, noiseBytes) == one {
		t.Error("another name is the same")
	}
}

func TestNoiseErrors(t *testing.T) {
	silence := wav(4000, 16000)
	clear(silence[44:])
	dir := corpus(t, map[string]string{
		"silent/a.wav": string(silence), "silent/b.wav": string(silence), "none/README": "", "broken/a.wav": "x",
		"gone.jsonl": `{"audio_filepath": "nowhere.wav"}`,
	})
	for name, want := range map[string]string{
		"none":       "there is no sound file in this folder or below",
		"broken":     "no utterance is left",
		"gone.jsonl": "0 of 1 audio files found",
		"nowhere":    "no such file or directory",
		"audio:2":    "noise has no weights",
	} {
		_, err := LoadNoise(t.Context(), []string{filepath.Join(dir, name)}, Options{SampleRate: 16000})
		testkit.MustFail(t, err, want)
	}
	n := loadedNoise(t, noiseBytes, filepath.Join(dir, "silent"))
	_, err := n.Read(t.Context(), 2)
	testkit.MustFail(t, err, "none of the recordings can be used; the first: a.wav", "no sound in it: all samples are equal")

	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := LoadNoise(ctx, []string{dir}, Options{SampleRate: 16000}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := loadedNoise(t, noiseBytes, filepath.Join(dir, "audio")).Read(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Without the option texts are needed, and a folder has to be more than sound files.
	_, err = Load(t.Context(), filepath.Join(dir, "audio"), Options{})
	testkit.MustFail(t, err, "a folder with none of what is looked for")
}

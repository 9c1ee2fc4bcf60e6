package audio

import (
	"bufio"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// expected is a line of an expected.jsonl.
type expected struct {
	File       string
	Outcome    string
	SampleRate int `json:"sample_rate"`
	Channels   int
	Frames     int
	Note       string
}

func readExpected(t *testing.T, path string) []expected {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []expected
	for s := bufio.NewScanner(f); s.Scan(); {
		var e expected
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", path)
	}
	return all
}

// verify reads a file both ways and holds the result to a line. If loose, warnings of
// silence and of shortness don't count: files with a few samples are odd enough.
func verify(t *testing.T, path string, e expected, loose bool) {
	t.Helper()
	probed, probeErr := Probe(File(path))
	info, x, err := read(path)
	if e.Outcome == "error" {
		if probeErr == nil || err == nil {
			t.Fatalf("no error: probe %v, read %v", probeErr, err)
		}
		if !strings.Contains(err.Error(), path) {
			t.Errorf("the error doesn't name the file: %v", err)
		}
		return
	}
	if probeErr != nil || err != nil {
		t.Fatalf("probe %v, read %v", probeErr, err)
	}
	if info.Rate != e.SampleRate || info.Channels != e.Channels || info.Samples != e.Frames || len(x) != e.Frames {
		t.Errorf("%d Hz, %d channels, %d frames, %d samples; want %d, %d, %d", info.Rate, info.Channels, info.Samples, len(x), e.SampleRate, e.Channels, e.Frames)
	}
	if probed.Rate != info.Rate || probed.Channels != info.Channels || probed.Samples != info.Samples || probed.Format != info.Format {
		t.Errorf("Probe gives %+v, Read gives %+v", probed, info)
	}
	for _, w := range info.Warnings {
		if !strings.HasPrefix(w, path+": ") {
			t.Errorf("the warning doesn't name the file: %s", w)
		}
	}
	warnings := info.Warnings
	if loose {
		warnings = slices.DeleteFunc(warnings, func(s string) bool {
			return strings.Contains(s, "less than one window") || strings.Contains(s, "every sample is")
		})
	}
	if due := e.Outcome == "ok_with_warning"; due != (len(warnings) == 1) || len(warnings) > 1 {
		t.Errorf("%s is due: %q", e.Outcome, warnings)
	}
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("sample %d is %v", i, v)
		}
	}
}

func TestCaseFiles(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	for _, e := range readExpected(t, filepath.Join(dir, "expected.jsonl")) {
		t.Run(e.File, func(t *testing.T) { verify(t, filepath.Join(dir, e.File), e, false) })
	}
}

// Unusual files from the test suites of other readers: every WAV file must come out as
// two independent decoders agree, and every other format must be named.
func TestOddFiles(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "data", "odd_audio")
	for _, e := range readExpected(t, filepath.Join(dir, "expected.jsonl")) {
		t.Run(filepath.Base(e.File), func(t *testing.T) {
			path := filepath.Join(dir, e.File)
			switch base := filepath.Base(path); {
			case strings.Contains(e.Note, "a reader that supports it passes"):
				e.Outcome, e.SampleRate, e.Channels, e.Frames = "ok", 8000, 3, 5 // 36 bits: by the rule
			case strings.Contains(e.Note, "a clear error passes too"):
				e.Outcome = "error" // FLAC frames with other channels than the header has
			case notReadHere[base] != "":
				_, err := Probe(File(path))
				_, _, err2 := read(path)
				if err == nil || err2 == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), notReadHere[base]) ||
					!strings.Contains(err.Error(), "convert it: ffmpeg -i ") || !strings.HasPrefix(err.Error(), path) {
					t.Errorf("probe %v, read %v; want an error that names %s", err, err2, notReadHere[base])
				}
				return
			}
			verify(t, path, e, true)
		})
	}
}

// notReadHere are files of formats that are named and not read.
var notReadHere = map[string]string{
	"lhotse__stereo.mp3":      "MPEG-2.5",
	"pydub__bach.ogg":         "FLAC in an Ogg file",
	"lhotse__stereo.sph":      "SPHERE",
	"pocketsphinx__chan3.sph": "SPHERE",
	"wav__bloop.aif":          "AIFF",
	"sphinx4__test.aiff":      "AIFF",
	"speech_recognition__audio-mono-16-bit-44100Hz.aiff": "AIFF",
}

func TestCaseValues(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	read := func(name string) (Info, []float32) {
		t.Helper()
		info, x, err := read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info, x
	}
	_, base := read("base16.wav")
	scaled := func(f float32, n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = f * base[i]
		}
		return x
	}
	for _, c := range []struct {
		file    string
		want    []float32
		warning string
	}{
		{"size_ffffffff.wav", base, "1600 samples"},
		{"size_zero.wav", base, "1600 samples"},
		{"truncated.wav", base[:1000], "declares 1600 samples (3200 bytes), there are 1000 samples (2001 bytes)"},
		{"odd_list_padded.wav", base, ""},
		{"ext24.wav", base, ""},
		{"ext16_fmt40.wav", base, ""},
		{"pcm24.wav", base, ""},
		{"pcm32.wav", base, ""},
		{"float32.wav", base, ""},
		{"float64.wav", base, ""},
		{"float32_times4.wav", scaled(4, 1600), ""},
		{"u8_128.wav", make([]float32, 1600), "silence"},
		{"stereo_same.wav", base, ""},
		{"stereo_left_only.wav", scaled(0.5, 1600), ""},
		{"stereo_opposite.wav", make([]float32, 1600), "channels cancel"},
		{"silence.wav", make([]float32, 16000), "silence"},
	} {
		info, x := read(c.file)
		if !slices.Equal(x, c.want) {
			t.Errorf("%s: the samples differ", c.file)
		}
		if all := strings.Join(info.Warnings, "\n"); !strings.Contains(all, c.warning) || (c.warning == "") != (all == "") {
			t.Errorf("%s: warnings %q, want %q", c.file, all, c.warning)
		}
	}
	_, u8 := read("u8.wav")
	for i, v := range u8 {
		if d := base[i] - v; d < 0 || d >= 1.0/128 {
			t.Fatalf("u8.wav: sample %d is %v, the base has %v", i, v, base[i])
		}
	}
	if peak := slices.Max(scaled(4, 1600)); peak < 1.5 {
		t.Errorf("the loud file peaks at %v, which tests nothing", peak)
	}
	if _, x := read("constant.wav"); x[0] != 1000.0/32768 || x[15999] != x[0] {
		t.Errorf("constant.wav starts with %v", x[0])
	}
}

func TestCaseErrorsDiffer(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	seen := map[string]string{}
	for _, c := range []struct{ file, say string }{
		{"empty.wav", "empty"}, {"riff_only.wav", "neither format nor samples"}, {"header_only.wav", "no sound"},
		{"no_fmt.wav", "without a format chunk"}, {"rate_1hz.wav", "1 Hz"},
	} {
		_, _, err := read(filepath.Join(dir, c.file))
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v; want %q", c.file, err, c.say)
			continue
		}
		message := strings.ReplaceAll(err.Error(), c.file, "")
		if other, ok := seen[message]; ok {
			t.Errorf("%s and %s give the same message", c.file, other)
		}
		seen[message] = c.file
	}
}

// One recording, kept by its author in several sample formats.
func TestSameSpeechInSeveralFormats(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "data", "odd_audio", "files")
	read := func(name string) []float32 {
		_, x, err := read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	mono := read("speech_recognition__audio-mono-24-bit-44100Hz.wav")
	stereo := read("speech_recognition__audio-stereo-24-bit-44100Hz.wav")
	eight := read("speech_recognition__audio-mono-8-bit-44100Hz.wav")
	if !slices.Equal(mono, stereo) {
		t.Error("mono and stereo differ at 24 bits")
	}
	for i := range mono {
		// 1.02 steps of 8 bits: it was dithered.
		if d := math.Abs(float64(mono[i] - eight[i])); d > 1.02/128 {
			t.Fatalf("8 bits: sample %d is off by %v", i, d)
		}
	}
}

// The tone of the case that other trainers mirror: 1 kHz at 8 kHz becomes 16 kHz.
func TestCaseTone(t *testing.T) {
	info, x, err := read(filepath.Join(testkit.Shared(t), "cases", "audio", "tone1k_8k.wav"))
	if err != nil {
		t.Fatal(err)
	}
	ratio, err := Convert(info.Rate, 16000, Ratio{})
	if err != nil {
		t.Fatal(err)
	}
	y := NewResampler().Resample(nil, x, ratio)
	if len(y) != 16000 {
		t.Fatalf("%d samples", len(y))
	}
	y = y[2000:14000]
	tone, image := decibel(level(y, 1000, 16000)), decibel(level(y, 7000, 16000))
	if !(math.Abs(tone) <= 0.01 && image <= tone-60) {
		t.Errorf("%.3f dB at 1 kHz, %.1f dB at 7 kHz", tone, image)
	}
}

// Headers that claim a lot: a rate that would make 25.6 million samples, a format chunk
// of 1.7 GB, sizes of 4 GB. Memory follows the file.
func TestClaimsTakeNoMemory(t *testing.T) {
	dir := testkit.Shared(t)
	for _, file := range []string{"cases/audio/rate_1hz.wav", "cases/audio/size_ffffffff.wav", "data/odd_audio/files/pocketsphinx__bad.wav", "data/odd_audio/files/hound__crash-b8447179832529c48f9c6bf17feab6337bbc78ea.wav"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := read(filepath.Join(dir, file))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 200_000 { // other goroutines of the test may allocate as well
			t.Errorf("%s: %d bytes were allocated (%v)", file, n, err)
		}
	}
}

// Headers that contradict themselves or the file.
func TestTriedFiles(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "tried")
	for _, c := range []struct {
		file    string
		samples int
		say     string // part of the one warning, or of the error where there are no samples; "" for none
	}{
		{"wav-block-align/contradiction.wav", 16000, "4 bytes a frame and 32000 a second"},
		{"wav-block-align/agreement.wav", 16000, ""},
		{"wav-more-behind-data/two_files_in_one.wav", 8000, "another file of "},
		{"wav-more-behind-data/three_data_chunks.wav", 4000, "further samples, "},
		{"wav-more-behind-data/size_of_a_tenth.wav", 2000, "bytes that are no chunk"},
		{"wav-more-behind-data/good.wav", 8000, ""},
		{"wav-odd-chunk-no-pad/no_pad.wav", 8000, `the chunk "bext" of 25 bytes at byte 36 has no pad byte`},
		{"wav-subformat/private.wav", 0, "unknown sub-format"},
		{"wav-subformat/b_format.wav", 0, "ambisonic"},
		{"wav-subformat/pcm.wav", 8000, ""},
	} {
		info, x, err := read(filepath.Join(dir, c.file))
		said := strings.Join(info.Warnings, "\n")
		if err != nil {
			said = err.Error()
		}
		if len(x) != c.samples || len(info.Warnings) > 1 || !strings.Contains(said, c.say) || (said == "") != (c.say == "") {
			t.Errorf("%s: %d samples, %q, %v", c.file, len(x), info.Warnings, err)
		}
	}
}

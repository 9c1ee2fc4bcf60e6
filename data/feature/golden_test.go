package feature

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/words"
)

// The reference features: sine, noise, impulse, silence, less than a window, an odd
// length, speech; at 16 kHz with 80 bins and at 8 kHz with 80 and 40.
func TestGolden(t *testing.T) {
	f := testkit.Golden(t, "fbank")
	cases := 0
	for _, name := range f.Names() {
		base, ok := strings.CutSuffix(name, ".wave")
		if !ok {
			continue
		}
		cases++
		t.Run(base, func(t *testing.T) {
			parts := strings.Split(base, "_")
			o := Default()
			var err1, err2 error
			o.SampleRate, err1 = strconv.Atoi(strings.TrimSuffix(parts[len(parts)-2], "k"))
			o.SampleRate *= 1000
			o.NumMels, err2 = strconv.Atoi(parts[len(parts)-1])
			samples, _, err3 := f.Ints(name)
			bank, shape, err4 := f.Floats(base + ".fbank")
			normal, _, err5 := f.Floats(base + ".normalised")
			e, err6 := New(o)
			for _, err := range []error{err1, err2, err3, err4, err5, err6} {
				if err != nil {
					t.Fatal(err)
				}
			}
			wave := make([]float32, len(samples))
			for i, v := range samples {
				wave[i] = float32(v) / 32768
			}
			got, frames := fbank(t, o, wave)
			if frames != shape[0] || e.Bins() != shape[1] {
				t.Fatalf("%d frames of %d, want %v", frames, e.Bins(), shape)
			}
			// float64 frames and FFT on both sides; the reference is stored as float32.
			testkit.Close(t, "fbank", got, bank, 1e-5)
			got, frames, err := e.Extract(got, wave, o.SampleRate, nil, 0)
			if err != nil || frames != shape[0] {
				t.Fatal(frames, err)
			}
			testkit.Close(t, "normalized", got, normal, 1e-5)
		})
	}
	if cases != 21 {
		t.Errorf("%d waves in the reference, expected 21", cases)
	}
}

func TestCaseMelFilters(t *testing.T) {
	var cases []struct {
		SampleRate int `json:"sample_rate"`
		Bins       int
		Empty      []int
	}
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "cases", "numbers", "mel.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		o := Default()
		o.SampleRate, o.NumMels = c.SampleRate, c.Bins
		if empty := o.melEmpty(); !slices.Equal(empty, c.Empty) {
			t.Errorf("%d Hz, %d bins: empty %v, want %v", c.SampleRate, c.Bins, empty, c.Empty)
		}
		_, err := New(o)
		if (err == nil) != (len(c.Empty) == 0) {
			t.Errorf("%d Hz, %d bins: %v", c.SampleRate, c.Bins, err)
		}
		if err != nil && (!strings.Contains(err.Error(), words.List(numerals(c.Empty), 10)) || !strings.Contains(err.Error(), "fewer bins")) {
			t.Errorf("%d Hz, %d bins: the error doesn't name %v: %v", c.SampleRate, c.Bins, c.Empty, err)
		}
	}
}

// Silence, a constant and very short waves, and their number of frames.
func TestCaseNothingToNormalize(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	raw := Default()
	raw.Normalize = None
	for _, c := range []struct {
		file   string
		frames int
		floor  bool
	}{{"silence.wav", 100, true}, {"constant.wav", 100, true}, {"samples79.wav", 0, false}, {"samples160.wav", 1, false}, {"samples320.wav", 2, false}, {"samples400.wav", 3, false}} {
		for _, o := range []Options{raw, Default()} {
			e, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.File(nil, filepath.Join(dir, c.file), 0, 0, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if r.Frames != c.frames || len(r.Features) != c.frames*80 {
				t.Errorf("%s: %d frames, want %d", c.file, r.Frames, c.frames)
			}
			for i, v := range r.Features {
				if v-v != 0 {
					t.Fatalf("%s: feature %d is %v", c.file, i, v)
				}
				switch {
				case c.floor && o.Normalize == None && v != float32(math.Log(LogFloor)):
					t.Fatalf("%s: feature %d is %v, not at the floor", c.file, i, v)
				case (c.floor || c.frames == 1) && o.Normalize == PerUtterance && !(math.Abs(float64(v)) <= 1e-6):
					t.Fatalf("%s: feature %d is %v, not 0", c.file, i, v)
				}
			}
		}
	}
}

// Four times the amplitude is 2 ln 4 more in every bin above the floor, so peaks above
// full scale must have survived.
func TestCaseLoudFloat(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	o := Default()
	o.Normalize = None
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	base, err1 := e.File(nil, filepath.Join(dir, "base16.wav"), 0, 0, nil, 0)
	loud, err2 := e.File(nil, filepath.Join(dir, "float32_times4.wav"), 0, 0, nil, 0)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for i, v := range base.Features {
		// float32 at values up to 25.
		if d := float64(loud.Features[i] - v); !(float64(v) <= math.Log(LogFloor)+1e-3) && !(math.Abs(d-2*math.Log(4)) <= 5e-6) {
			t.Fatalf("feature %d differs by %v, want %v", i, d, 2*math.Log(4))
		}
	}
}

// The chain at another rate: what goes in at 8 kHz has nothing to say above 4 kHz.
func TestCaseToneResampled(t *testing.T) {
	o := Default()
	o.Normalize = None
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.File(nil, filepath.Join(testkit.Shared(t), "cases", "audio", "tone1k_8k.wav"), 0, 0, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := o.Frames(8000, 8000, audio.Ratio{}); err != nil || r.Frames != want || want != 100 {
		t.Fatalf("%d frames, Frames says %d (%v)", r.Frames, want, err)
	}
	row := r.Features[50*80 : 51*80]
	top, high := float64(row[0]), math.Inf(-1)
	for i, v := range row {
		top = max(top, float64(v))
		if f := e.mels.filters[i]; float64(f.start)*16000/512 > 4500 {
			high = max(high, float64(v))
		}
	}
	if db := (high - top) * 10 / math.Ln10; db > -60 {
		t.Errorf("%.1f dB above 4.5 kHz", db)
	}
}

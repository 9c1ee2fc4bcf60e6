package recognize

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/testkit"
)

// hum is a tone of this amplitude.
func hum(samples int, amplitude float64) []int {
	tone := make([]int, samples)
	for i := range tone {
		tone[i] = int(amplitude * float64(i%9-4) / 4)
	}
	return tone
}

// What is odd about sound is said of short sound as well: all but what a short one can't show. Of many recordings the
// first are named.
func TestShortSoundIsExamined(t *testing.T) {
	m := random(t, described(t), 1)
	dir := t.TempDir()
	file := func(name string, rate int, samples []int) string {
		path := filepath.Join(dir, name+".wav")
		testkit.WriteWAV(t, path, rate, samples)
		return path
	}
	var low []string
	for i := range oddNamed + 2 {
		low = append(low, file(fmt.Sprintf("low%d", i), 8000, hum(3200, 8000)))
	}
	for _, c := range []struct {
		name  string
		paths []string
		want  []string // warnings, in order
	}{
		{"0.4 s of a lower rate", low[:1], []string{low[0] + ": it has 8000 Hz, and the model hears 16000"}},
		{"many", low, []string{"low0", "low1", "low2", "low3", "low4", "2 sounds more: of a lower rate than the model hears"}},
		{"one more", low[:oddNamed+1], []string{"low0", "low1", "low2", "low3", "low4", "1 sound more: of a lower rate"}},
		{"0.4 s of a faint voice", []string{file("faint", 16000, hum(6400, 60))}, []string{"faint.wav: it is very quiet"}},
		{"too short for a level", []string{file("click", 16000, hum(1600, 60))}, nil},
		{"too loud", []string{file("loud", 16000, hum(6400, 32767))}, []string{"loud.wav: it is too loud"}},
		{"nothing", []string{file("fine", 16000, hum(6400, 8000))}, nil},
	} {
		var said bytes.Buffer
		m.log = &said
		transcripts(t, m, c.paths...)
		lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
		if said.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(c.want) {
			t.Errorf("%s: %d warnings, want %d:\n%s", c.name, len(lines), len(c.want), said.String())
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], "WARNING: ") || !strings.Contains(lines[i], want) {
				t.Errorf("%s: warning %d is %q, want %q", c.name, i, lines[i], want)
			}
		}
	}
}

// Noise and hums are steady, and speech isn't, also with noise 5 dB below it. Of a recording it is said which part.
func TestSteadyNoise(t *testing.T) {
	const rate = 16000
	draw := testkit.Normal[float64](7, 10*rate)
	hiss := func(samples int, amplitude float64) []float32 {
		x := make([]float32, samples)
		for i := range x {
			x[i] = float32(amplitude * draw[i])
		}
		return x
	}
	mains := make([]float32, 2*rate)
	for i := range mains {
		for h := 1; h <= 4; h++ {
			mains[i] += float32(0.02 * math.Sin(2*math.Pi*50*float64(h*i)/rate+float64(h)) / float64(h))
		}
	}
	words, err := filepath.Glob(filepath.Join("..", "examples", "konkani_words", "wav", "v01", "*.wav"))
	if err != nil || len(words) < 20 {
		t.Fatalf("%d words, %v", len(words), err)
	}
	var speech []float32
	resampler := audio.NewResampler()
	for _, path := range words[:10] {
		info, x, err := new(audio.Reader).Read(audio.File(path), nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		ratio, err := audio.Convert(info.Rate, rate, audio.Ratio{})
		if err != nil {
			t.Fatal(err)
		}
		speech = append(speech, resampler.Resample(nil, x, ratio)...)
	}
	squares := 0.0
	for _, v := range speech {
		squares += float64(v) * float64(v)
	}
	noisy := hiss(len(speech), math.Pow(10, -5.0/20)*math.Sqrt(squares/float64(len(speech))))
	for i, v := range speech {
		noisy[i] += v
	}
	for _, c := range []struct {
		name string
		x    []float32
		want bool
	}{
		{"hiss", hiss(2*rate, 0.03), true}, {"faint hiss", hiss(5*rate, 0.002), true}, {"hum", mains, true},
		{"too short to tell", hiss(2*rate-1, 0.03), false}, {"speech", speech, false}, {"speech in noise", noisy, false},
	} {
		if got := newExamination(rate).isSteady(c.x); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}

	m := random(t, described(t), 1)
	for _, c := range []struct {
		x    []float32
		want string // "": nothing is said
	}{
		{hiss(9*rate, 0.03), ": it is steady noise, as of a hum or a hiss: "},
		{slices.Concat(hiss(5*rate, 0.03), speech), " s of it, from 0.0 s on, are steady noise, "},
		{noisy, ""},
	} {
		samples := make([]int, len(c.x))
		for i, v := range c.x {
			samples[i] = int(32767 * v)
		}
		var said bytes.Buffer
		m.log = &said
		err := m.TranscribeAll(t.Context(), []Recording{soundOf(t, rate, samples)}, TranscribeOptions{PieceSeconds: 3},
			&gathering{paths: []string{"x"}, emit: func(Transcript) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if text := said.String(); c.want != "" && !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "steady noise") {
			t.Errorf("said %q, want %q", text, c.want)
		}
	}
}

package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/data/cut"
	"konkanitrain/internal/testkit"
)

// What is measured of a set is what its utterances are like; what is broken or silent isn't counted.
func TestPhrases(t *testing.T) {
	const rate = 8000
	tone := func(before, say, behind float64) []byte {
		b := wav(int((before+say+behind)*rate), rate)
		said := int((before + say) * rate)
		clear(b[44 : 44+2*int(before*rate)])
		clear(b[44+2*said:])
		return b
	}
	files := map[string]string{}
	var lines string
	add := func(sound []byte) {
		name := fmt.Sprintf("%d.wav", len(files))
		files[name] = string(sound)
		lines += fmt.Sprintf("{\"audio_filepath\": %q, \"text\": \"a\"}\n", name)
	}
	for i := range 40 {
		add(tone(0.2+0.001*float64(i), 1, 0.5))
	}
	add(tone(0, 2, 3))
	add(tone(3, 0, 0))
	files["set.jsonl"] = lines
	dir := corpus(t, files)
	s, err := Load(t.Context(), filepath.Join(dir, "set.jsonl"), Options{SampleRate: rate, SkipBadLines: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Phrases(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 0.021 { // two frames
			t.Errorf("%s is %.3f s, want %.3f s", name, got, want)
		}
	}
	near("typical", p.Typical, 1.72)
	near("longest", p.Longest, 5)
	near("before", p.Before, 0.22)
	near("behind", p.Behind, 0.5)
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	if _, err := Phrases(ctx, s); !errors.Is(err, stopped) {
		t.Error(err)
	}
}

// A few utterances that are much longer than all others don't say how long they are.
func TestPhrasesWithoutOutliers(t *testing.T) {
	const rate = 1000
	files := map[string]string{"word.wav": string(wav(rate/2, rate)), "long.wav": string(wav(9*rate, rate))}
	lines := strings.Repeat("{\"audio_filepath\": \"word.wav\", \"text\": \"a\"}\n", 198)
	for n, want := range map[int]float64{2: 0.5, 3: 9} { // of 200, and of 201
		files["set.jsonl"] = lines + strings.Repeat("{\"audio_filepath\": \"long.wav\", \"text\": \"a\"}\n", n)
		s, err := Load(t.Context(), filepath.Join(corpus(t, files), "set.jsonl"), Options{SampleRate: rate, SkipBadLines: true})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := Phrases(t.Context(), s); err != nil || p.Typical != 0.5 || p.Longest != want {
			t.Errorf("%d of %d utterances are long: %v, %v; want up to %g s", n, s.Len(), p, err, want)
		}
	}
}

// Words that are joined to long sound, with pauses between them, are cut from each other again, as tightly as they were
// recorded, where the network has learned from words: however long a piece may be.
func TestJoinedWordsComeApart(t *testing.T) {
	load := func(name string) *Set {
		s, err := Load(t.Context(), filepath.Join("..", "examples", "konkani_words", name), Options{SampleRate: 16000})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	p, err := Phrases(t.Context(), load("train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Before != 0 || p.Behind != 0 || p.Typical < 0.3 || p.Typical > 0.4 || p.Longest < 0.49 || p.Longest > 0.51 {
		t.Errorf("the bundled words are said to be %+v", p)
	}
	const rate = 16000
	r, noise := testkit.Rand(3), testkit.Normal[float32](1, 4096)
	type part struct{ start, end int }
	var words []part
	var sound []float32
	var reader audio.Reader
	test := load("test.jsonl")
	for i := range test.Len() {
		wave, _, err := test.At(i).read(&reader)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, part{len(sound), len(sound) + len(wave)})
		sound = append(sound, wave...)
		for range int((0.4 + 0.6*r.Float64()) * rate) {
			sound = append(sound, 1e-4*noise[len(sound)%len(noise)])
		}
	}
	for _, longest := range []float64{3, 20} {
		var pieces []part
		c, err := cut.New(cut.Options{Rate: rate, Longest: longest, Overlap: longest / 4, Step: 4, Phrases: p})
		if err != nil {
			t.Fatal(err)
		}
		emit := func(p cut.Piece) error {
			pieces = append(pieces, part{p.Start, p.Start + len(p.Wave)})
			return nil
		}
		if err := errors.Join(c.Put(sound, emit), c.End(emit)); err != nil {
			t.Fatal(err)
		}
		whole := 0
		for _, w := range words {
			// A word's first and last sounds may be as quiet as the noise, for a few frames of 10 ms.
			if slices.ContainsFunc(pieces, func(p part) bool { return within(p.start-w.start, rate/20) && within(p.end-w.end, rate/20) }) {
				whole++
			}
		}
		if whole < len(words)-3 || len(pieces) > len(words)+2 {
			t.Errorf("pieces of up to %g s: %d, of which %d are one of the %d words", longest, len(pieces), whole, len(words))
		}
	}
}

func within(x, most int) bool { return -most <= x && x <= most }

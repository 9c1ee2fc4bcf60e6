package data

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
)

// spoken is a set of n utterances of different lengths, 0.3 to 0.9 s at 8 kHz, with tokens.
func spoken(t testing.TB, n int) *Set {
	files := map[string]string{}
	var b strings.Builder
	for i := range n {
		files[fmt.Sprintf("%d.wav", i)] = string(wav(2400+(i*1237)%4800, 8000))
		fmt.Fprintf(&b, `{"id": "u%d", "audio_filepath": "%d.wav", "text": "%d"}`+"\n", i, i, i%10)
	}
	files["x.jsonl"] = b.String()
	s := mustLoad(t, filepath.Join(corpus(t, files), "x.jsonl"), Options{SampleRate: 8000})
	v, err := text.Build(s.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tokenize(v, TokenOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func options8k(window int) LoaderOptions {
	f := feature.Default()
	f.SampleRate, f.NumMels = 8000, 40
	return LoaderOptions{Seed: 5, Window: window, Feature: f}
}

func augmented(o LoaderOptions) LoaderOptions {
	a := feature.Augment{Speeds: []float64{0.9, 1, 1.1}, FreqMasks: 2, FreqWidth: 8, TimeMasks: 5, TimeShare: 0.05}
	o.Augment = &a
	return o
}

// perturbed has every augmentation.
func perturbed(o LoaderOptions) LoaderOptions {
	o = augmented(o)
	a := o.Augment
	a.VTLP, a.ReverbShare, a.BandwidthShare, a.Volume, a.Pitch, a.TimeShift = 0.1, 0.7, 0.5, 20, 3, 0.1
	a.NoiseShare, a.NoiseSNR = 0.7, [2]float64{5, 25}
	return o
}

func newLoader(t testing.TB, s *Set, o LoaderOptions) *Loader {
	t.Helper()
	l, err := NewLoader(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fingerprint sums up all that a window holds.
func fingerprint(w *Window) string {
	h := fnv.New64a()
	fmt.Fprint(h, w.Epoch, w.Index, w.Last)
	for _, e := range w.Examples {
		fmt.Fprint(h, e.Utt.ID, e.Frames, len(e.Features), e.Tokens, e.Speed, e.Err)
		for _, f := range e.Features {
			b := math.Float32bits(f)
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		}
	}
	return fmt.Sprintf("%d/%d:%x", w.Epoch, w.Index, h.Sum64())
}

// prints runs through n windows from a place on.
func prints(t testing.TB, l *Loader, epoch, window, n int) []string {
	t.Helper()
	r, err := l.Start(context.Background(), epoch, window)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for range n {
		w, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fingerprint(w))
		w.Release()
	}
	return out
}

// What comes out depends on neither workers, read-ahead, cache nor where one starts.
func TestLoaderIsDeterministic(t *testing.T) {
	s := spoken(t, 23)
	want := prints(t, newLoader(t, s, perturbed(options8k(6))), 0, 0, 12)
	if !strings.HasPrefix(want[4], "1/0") || !strings.HasPrefix(want[11], "2/3") {
		t.Errorf("four windows an epoch: %v", want)
	}
	for _, c := range []struct {
		workers, ahead int
		cache          int64
	}{{1, 1, 0}, {1, 5, 1 << 30}, {4, 1, 30000}, {7, 3, 1 << 30}} {
		o := perturbed(options8k(6))
		o.Workers, o.Ahead, o.CacheWaves = c.workers, c.ahead, c.cache
		l := newLoader(t, s, o)
		if got := prints(t, l, 0, 0, 12); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
		// In the middle of an epoch, with the cache filled.
		epoch, k := 5/l.Windows(), 5%l.Windows()
		if got := prints(t, l, epoch, k, 7); !slices.Equal(got, want[5:]) {
			t.Errorf("%+v, from window 5 on: %v, want %v", c, got, want[5:])
		}
		if l.cache.used > c.cache {
			t.Errorf("%d bytes in a cache of %d", l.cache.used, c.cache)
		}
	}
	other := perturbed(options8k(6))
	other.Seed++
	if got := prints(t, newLoader(t, s, other), 0, 0, 4); slices.Equal(got, want[:4]) {
		t.Error("another seed, the same windows")
	}
}

// An utterance's draws are its own: in a window of one they are those of a window of six.
func TestDrawsDontDependOnTheWindow(t *testing.T) {
	s := spoken(t, 12)
	collect := func(window int) map[string]string {
		l := newLoader(t, s, perturbed(options8k(window)))
		r, _ := l.Start(context.Background(), 3, 0)
		defer r.Close()
		out := map[string]string{}
		for range l.Windows() {
			w, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range w.Examples {
				out[e.Utt.ID] = fmt.Sprint(e.Speed, e.Features)
			}
		}
		return out
	}
	one, six := collect(1), collect(6)
	if len(one) != 12 || len(six) != 12 {
		t.Fatalf("%d and %d utterances", len(one), len(six))
	}
	for id := range one {
		if one[id] != six[id] {
			t.Errorf("%s differs", id)
		}
	}
}

// Evaluation scores every utterance once, in order and unaugmented, whatever the window.
func TestEvaluate(t *testing.T) {
	s := spoken(t, 10)
	x, err := feature.New(options8k(1).Feature)
	if err != nil {
		t.Fatal(err)
	}
	for _, window := range []int{1, 3, 4, 10, 99} {
		o := options8k(window)
		o.Evaluate = true
		l := newLoader(t, s, o)
		r, err := l.Start(context.Background(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for {
			w, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if w.Last != (len(seen)+len(w.Examples) == 10) {
				t.Errorf("window %d: last is %v", w.Index, w.Last)
			}
			for _, e := range w.Examples {
				seen = append(seen, e.Utt.ID)
				want, err := x.File(nil, e.Utt.Path(), 0, 0, nil, 0)
				if err != nil || e.Err != nil || e.Frames != want.Frames || e.Frames != e.Utt.Frames || !slices.Equal(e.Features, want.Features) || !e.Speed.One() {
					t.Errorf("%s differs from its file read alone", e.Utt.ID)
				}
			}
			w.Release()
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
		r.Close()
		if !slices.Equal(seen, ids(s)) {
			t.Errorf("windows of %d: %v", window, seen)
		}
	}
}

func TestLoaderWarnsOnce(t *testing.T) {
	dir := corpus(t, map[string]string{"x.jsonl": lineA + `{"audio_filepath": "silence.wav", "text": "a"}`})
	silence := wav(4000, 16000)
	clear(silence[44:])
	os.WriteFile(filepath.Join(dir, "silence.wav"), silence, 0o644)
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	l := newLoader(t, s, LoaderOptions{Window: 2, Feature: feature.Default(), Evaluate: true})
	prints(t, l, 0, 0, 1)
	if got := l.Warnings(); len(got) != 1 || !strings.Contains(got[0], "silence.wav: silence") {
		t.Errorf("%q", got)
	}
	prints(t, l, 0, 0, 1)
	if got := l.Warnings(); got != nil {
		t.Errorf("again: %q", got)
	}
}

// What the report of the manifest says of a file is not said again.
func TestLoaderKnowsTheReport(t *testing.T) {
	cut := wav(8000, 16000)
	dir := corpus(t, map[string]string{"cut.wav": string(cut[:len(cut)-100]), "x.jsonl": edit(lineA, "audio/a.wav", "cut.wav")})
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	if !slices.Equal(s.Report.reported(AudioWarning), []int{1}) {
		t.Fatalf("%v", s.Report)
	}
	l := newLoader(t, s, LoaderOptions{Window: 1, Feature: feature.Default()})
	prints(t, l, 0, 0, 2)
	if got := l.Warnings(); got != nil {
		t.Errorf("%q", got)
	}
}

// Parts of one long recording are read as such.
func TestLoaderReadsParts(t *testing.T) {
	dir := corpus(t, map[string]string{"x.jsonl": strings.NewReplacer("{", `{"offset": 0.5, `, "1.5", "0.25").Replace(lineC)})
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	l := newLoader(t, s, LoaderOptions{Window: 1, Evaluate: true, Feature: feature.Default()})
	r, _ := l.Start(context.Background(), 0, 0)
	defer r.Close()
	w, err := r.Next()
	if err != nil || w.Examples[0].Err != nil || w.Examples[0].Frames != 25 {
		t.Fatalf("%v, %+v", err, w)
	}
	_, whole, _ := new(audio.Reader).Read(audio.File(filepath.Join(dir, "audio", "c.wav")), nil, 0, 0)
	x, _ := feature.New(feature.Default())
	want, _, _ := x.Extract(nil, whole[8000:12000], 16000, nil, 0)
	if !slices.Equal(w.Examples[0].Features, want) {
		t.Error("other sound than 0.5 to 0.75 s")
	}
}

func TestLoaderOptions(t *testing.T) {
	s := spoken(t, 2)
	a := feature.Augment{}
	wrong := a
	wrong.Speeds = []float64{9}
	for part, change := range map[string]func(*LoaderOptions){
		"window of 0":                     func(o *LoaderOptions) { o.Window = 0 },
		"-1 windows":                      func(o *LoaderOptions) { o.Ahead = -1 },
		"-1 workers":                      func(o *LoaderOptions) { o.Workers = -1 },
		"-1 bytes":                        func(o *LoaderOptions) { o.CacheWaves = -1 },
		"evaluation":                      func(o *LoaderOptions) { o.Evaluate, o.Augment = true, &a },
		"16000 Hz":                        func(o *LoaderOptions) { o.Feature.SampleRate = 16000 },
		"statistics":                      func(o *LoaderOptions) { o.Feature.Normalize = feature.Global },
		"a window of 0 utterances; batch": func(o *LoaderOptions) { o.Window, o.Evaluate = 0, true },
		"time_share":                      func(o *LoaderOptions) { o.Augment = &feature.Augment{TimeShare: 9} },
		"speed":                           func(o *LoaderOptions) { o.Augment = &wrong },
	} {
		o := options8k(2)
		change(&o)
		if _, err := NewLoader(s, o); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", part, err)
		}
	}
	if _, err := NewLoader(&Set{Path: "x", SampleRate: 8000, Report: new(Report)}, options8k(1)); err == nil {
		t.Error("a loader of nothing")
	}
	l := newLoader(t, s, options8k(2))
	for _, place := range [][2]int{{-1, 0}, {0, -1}, {0, 1}} {
		if _, err := l.Start(context.Background(), place[0], place[1]); err == nil {
			t.Errorf("a run from %v", place)
		}
	}
}

// A rate that can't be played at one of the speeds is an error before anything is read.
func TestLoaderChecksRates(t *testing.T) {
	f := feature.Default()
	f.SampleRate, f.NumMels = 1000, 4
	a := feature.Augment{Speeds: []float64{1, 2}}
	set := func(rates ...int) *Set {
		var us []*Utterance
		for i, rate := range rates {
			us = append(us, &Utterance{ID: fmt.Sprintf("u%d", i), File: "x", Line: 7 + i, Recording: &Recording{Info: audio.Info{Rate: rate}}, Samples: rate})
		}
		return NewSet("x", 1000, us...)
	}
	// 768000 Hz at speed 2 are 1536 samples of sound for each of 1000 Hz; at most 1000 are possible.
	_, err := NewLoader(set(8000, 8000, 768000), LoaderOptions{Window: 1, Feature: f, Augment: &a})
	if err == nil || !strings.Contains(err.Error(), "u2 (x, line 9) has 768000 Hz and can't be played at speed 2") {
		t.Errorf("%v", err)
	}
	for _, o := range []LoaderOptions{{Window: 1, Feature: f}, {Window: 1, Feature: f, Evaluate: true}} {
		if _, err := NewLoader(set(8000, 768000), o); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewLoader(set(8000, 1), LoaderOptions{Window: 1, Feature: f}); err == nil || !strings.Contains(err.Error(), "at speed 1") {
		t.Errorf("%v", err)
	}
}

func BenchmarkLoader(b *testing.B) {
	s := spoken(b, 32)
	o := augmented(options8k(8))
	o.CacheWaves = 1 << 30
	l := newLoader(b, s, o)
	r, err := l.Start(context.Background(), 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		w, err := r.Next()
		if err != nil {
			b.Fatal(err)
		}
		w.Release()
	}
}

package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/feature"
)

// runEpoch goes through an epoch and counts the examples that can't be used.
func runEpoch(t *testing.T, l *Loader) (unusable int) {
	t.Helper()
	r, err := l.Start(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range l.Windows() {
		w, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Examples {
			if e.Err != nil {
				unusable++
			}
		}
		w.Release()
	}
	return unusable
}

// A sound that turns out to be unreadable is named once in the life of the set, whoever meets it, and counted.
func TestUnreadableSoundsAreNamedOnce(t *testing.T) {
	s := spoken(t, 20)
	if s.News() != nil || s.TooManyBad() != nil || s.Outcome().Kept != 20 {
		t.Fatal("news of a set that nobody has read")
	}
	for _, u := range some(s, 3, 6) {
		os.Remove(u.Path())
	}
	o := options8k(4)
	o.Evaluate = true
	l := newLoader(t, s, o)
	if n := runEpoch(t, l); n != 3 {
		t.Fatalf("%d examples can't be used", n)
	}
	var named []string
	for _, n := range s.News() {
		if n.Kind != Unreadable || !n.Skipped || !strings.HasPrefix(n.String(), fmt.Sprintf("%s (%s, line %d): ", n.ID, s.Path, n.Line)) {
			t.Errorf("%v", n)
		}
		named = append(named, n.ID)
	}
	slices.Sort(named)
	if !slices.Equal(named, []string{"u3", "u4", "u5"}) {
		t.Errorf("%v are named", named)
	}
	runEpoch(t, l)
	if _, err := Statistics(context.Background(), s, o.Feature, 2); err != nil {
		t.Error(err)
	}
	if news := s.News(); len(news) != 0 {
		t.Errorf("again: %v", news)
	}
	r := s.Outcome()
	if r.Kept != 17 || r.Count(Unreadable) != 3 || !strings.Contains(r.String(), "17 of 20 utterances used") || !strings.Contains(r.String(), "3 skipped, audio can't be read") {
		t.Errorf("%v", r)
	}
	if s.Report.Kept != 20 || len(s.Report.Notes) != 0 {
		t.Errorf("the report of the manifest has changed: %v", s.Report)
	}
}

// The limit on bad lines holds for headers and sounds together.
func TestLimitHoldsForSounds(t *testing.T) {
	s := spoken(t, 20)
	s.options.BadLimit = 0.1
	s.Report.Notes = append(s.Report.Notes, Note{Kind: Missing, ID: "no", Skipped: true})
	for i, want := range []string{"", "3 of 20 lines are bad, the limit (bad_line_limit) is 10 %"} {
		os.Remove(s.At(i).Path())
		runEpoch(t, newLoader(t, s, options8k(4)))
		err := s.TooManyBad()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d unreadable sounds: %v", i+1, err)
		}
	}
	if _, err := Statistics(context.Background(), s, options8k(1).Feature, 2); err == nil || !strings.Contains(err.Error(), "3 of 20") {
		t.Errorf("statistics: %v", err)
	}
}

// Of an utterance of one frame nothing is left at speed 2: it is named, and is no bad file.
func TestNothingLeftAtASpeed(t *testing.T) {
	dir := corpus(t, map[string]string{"tiny.wav": string(wav(80, 16000)), "x.jsonl": edit(lineA, "audio/a.wav", "tiny.wav")})
	s := mustLoad(t, dir+"/x.jsonl", Options{})
	a := feature.Augment{Speeds: []float64{2}}
	l := newLoader(t, s, LoaderOptions{Window: 1, Feature: feature.Default(), Augment: &a})
	if got := l.Lengths(0, 0, nil); len(got) != 1 || got[0].Frames != 0 {
		t.Errorf("%v", got)
	}
	if n := runEpoch(t, l); n != 1 {
		t.Error("it was used")
	}
	news := s.News()
	if len(news) != 1 || news[0].Kind != TooShort || news[0].Skipped || !strings.Contains(news[0].Reason, "at speed 2/1") {
		t.Errorf("%v", news)
	}
	if r := s.Outcome(); r.Kept != 1 {
		t.Errorf("%v", r)
	}
}

// Sound whose samples are all equal, of zeros, a constant, or channels that cancel, is left out of training and of the
// statistics, named once, and counts as bad; in evaluation it is used, with a warning.
func TestSilentSoundIsLeftOutOfTraining(t *testing.T) {
	zeros, constant := wav(4000, 16000), wav(4000, 16000)
	clear(zeros[44:])
	for i := 44; i < len(constant); i += 2 {
		constant[i], constant[i+1] = 7, 1
	}
	stereo := wav(4000, 16000)
	binary.LittleEndian.PutUint16(stereo[22:], 2)
	binary.LittleEndian.PutUint16(stereo[32:], 4)
	binary.LittleEndian.PutUint32(stereo[28:], 64000)
	for i := 44; i < len(stereo); i += 4 {
		binary.LittleEndian.PutUint16(stereo[i:], uint16(i))
		binary.LittleEndian.PutUint16(stereo[i+2:], uint16(-i))
	}
	part := wav(8000, 16000)
	clear(part[44:][:8000])
	dir := corpus(t, map[string]string{
		"zeros.wav": string(zeros), "constant.wav": string(constant), "stereo.wav": string(stereo), "part.wav": string(part),
		"x.jsonl": lineA + `{"audio_filepath": "zeros.wav", "text": "a"}
{"audio_filepath": "constant.wav", "text": "a"}
{"audio_filepath": "stereo.wav", "text": "a"}
{"audio_filepath": "part.wav", "text": "a", "offset": 0, "duration": 0.25}
{"audio_filepath": "part.wav", "text": "a", "offset": 0.1, "duration": 0.4}
`})
	path := filepath.Join(dir, "x.jsonl")
	want := []string{"zeros.wav: silence: every sample is 0", "constant.wav: no sound: every sample is", "stereo.wav: the 2 channels cancel", "part.wav: silence"}
	o := LoaderOptions{Window: 6, Feature: feature.Default(), CacheWaves: 1 << 20}
	for _, statistics := range []bool{false, true} {
		s := mustLoad(t, path, Options{})
		l := newLoader(t, s, o)
		if statistics {
			got, err := Statistics(context.Background(), s, feature.Default(), 2)
			if err != nil || got.Frames == 0 {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		for range 2 {
			if n := runEpoch(t, l); n != 4 {
				t.Errorf("%d are left out", n)
			}
		}
		news := s.News()
		slices.SortFunc(news, func(a, b Note) int { return a.Line - b.Line })
		if len(news) != len(want) {
			t.Fatalf("news: %v", news)
		}
		for i, n := range news {
			if n.Kind != Silent || !n.Skipped || n.Line != i+2 || !strings.Contains(n.Reason, want[i]) {
				t.Errorf("%v", n)
			}
		}
		if w := l.Warnings(); len(w) > 0 {
			t.Errorf("said again: %q", w)
		}
		r := s.Outcome()
		if r.Kept != 2 || r.CountOf(Silent, true) != 4 || !strings.Contains(r.String(), "4 skipped, no sound in it:") {
			t.Errorf("%v", r)
		}
		s.options.BadLimit = 0.5
		if err := s.TooManyBad(); err == nil || !strings.Contains(err.Error(), "4 of 6 lines are bad") {
			t.Errorf("the limit: %v", err)
		}
	}
	s := mustLoad(t, path, Options{})
	o.Evaluate = true
	l := newLoader(t, s, o)
	if n, w := runEpoch(t, l), l.Warnings(); n != 0 || len(w) != 4 || s.Outcome().Kept != 6 {
		t.Errorf("in evaluation: %d left out, %q", n, w)
	}
}

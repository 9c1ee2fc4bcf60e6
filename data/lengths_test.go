package data

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/philox"
	"konkanitrain/internal/testkit"
)

// nineSpeeds are those of speed perturbation on single words.
var nineSpeeds = []float64{0.88, 0.91, 0.94, 0.97, 1, 1.03, 1.06, 1.09, 1.12}

func withSpeeds(o LoaderOptions) LoaderOptions {
	o = augmented(o)
	o.Augment.Speeds = nineSpeeds
	return o
}

// checkLengths holds what a loader says beforehand to what it yields over some epochs, row by row.
func checkLengths(t *testing.T, l *Loader, epochs int) {
	t.Helper()
	type row struct {
		Length
		id string
	}
	var planned []row
	var lengths []Length
	for epoch := range epochs {
		for k := range l.Windows() {
			lengths = l.Lengths(epoch, k, lengths)
			us := l.Window(epoch, k)
			if len(us) != len(lengths) {
				t.Fatalf("window %d of epoch %d has %d utterances and %d lengths", k, epoch, len(us), len(lengths))
			}
			for i, u := range us {
				planned = append(planned, row{lengths[i], u.ID})
			}
		}
	}
	s, err := l.Start(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []row
	for range epochs * l.Windows() {
		w, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Examples {
			if e.Err != nil || e.Planned != e.Frames || len(e.Features) != e.Frames*l.bins {
				t.Fatalf("%s: %d frames were planned, %d came with %d features: %v", e.Utt.ID, e.Planned, e.Frames, len(e.Features), e.Err)
			}
			got = append(got, row{Length{e.Frames, len(e.Tokens)}, e.Utt.ID})
		}
		w.Release()
	}
	if !slices.Equal(planned, got) {
		t.Errorf("%v were foreseen, %v came", planned, got)
	}
	if l.o.Evaluate {
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	}
}

func TestLengthsAreKnownBeforehand(t *testing.T) {
	s := spoken(t, 23)
	checkLengths(t, newLoader(t, s, withSpeeds(options8k(6))), 3)
	checkLengths(t, newLoader(t, s, options8k(6)), 2)
	light := withSpeeds(options8k(6))
	light.Augment.LightEpochs = 3
	checkLengths(t, newLoader(t, s, light), 4)
	evaluation := options8k(4)
	evaluation.Evaluate = true
	l := newLoader(t, s, evaluation)
	checkLengths(t, l, 1)
	if !slices.Equal(l.Lengths(0, 1, nil), l.Lengths(7, 1, nil)) {
		t.Error("an evaluation's lengths depend on the epoch")
	}
	// At another rate than the features'.
	o := withSpeeds(options8k(5))
	o.Feature.SampleRate = 16000
	path := filepath.Join(corpus(t, map[string]string{"x.jsonl": lineA + lineB + lineC, "8k.wav": string(wav(3001, 8000))}), "x.jsonl")
	s = mustLoad(t, path, Options{})
	checkLengths(t, newLoader(t, s, o), 3)
}

// The same with real speech.
func TestLengthsOfDigits(t *testing.T) {
	s := mustLoad(t, filepath.Join(testkit.Shared(t), "data", "fsdd", "all.jsonl"), Options{SampleRate: 8000})
	s = s.Select(func(i int) bool { return s.At(i).Line%10 == 0 })
	v, err := text.Build(s.Texts(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tokenize(v, TokenOptions{}); err != nil {
		t.Fatal(err)
	}
	checkLengths(t, newLoader(t, s, withSpeeds(options8k(24))), 3)
}

func TestLengthsOutsideTheEpoch(t *testing.T) {
	s := spoken(t, 5)
	evaluation := options8k(2)
	evaluation.Evaluate = true
	for _, o := range []LoaderOptions{withSpeeds(options8k(2)), evaluation} {
		l := newLoader(t, s, o)
		into := make([]Length, 3)
		for _, k := range []int{-1, l.Windows()} {
			if got := l.Lengths(0, k, into); len(got) != 0 {
				t.Errorf("window %d of %d: %v", k, l.Windows(), got)
			}
			if got := l.Window(0, k); len(got) != 0 {
				t.Errorf("window %d of %d: %v", k, l.Windows(), got)
			}
		}
		if got := l.Lengths(0, 2, into); len(got) != 1 || &got[0] != &into[0] {
			t.Errorf("the last window: %v, in other memory than was given", got)
		}
	}
}

// An utterance that can't be read keeps its planned length, and has no other.
func TestPlannedLengthStays(t *testing.T) {
	s := spoken(t, 3)
	os.Remove(s.At(1).Path())
	l := newLoader(t, s, withSpeeds(options8k(3)))
	planned := l.Lengths(0, 0, nil)
	r, err := l.Start(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range w.Examples {
		lost := e.Utt.ID == "u1"
		if e.Planned != planned[i].Frames || e.Planned == 0 || lost != (e.Err != nil) || lost != (e.Frames == 0) || lost != (e.Features == nil) {
			t.Errorf("%s: %d frames, %d planned, %v", e.Utt.ID, e.Frames, e.Planned, e.Err)
		}
	}
}

// A file that gives another number of frames than planned is an error of its example, never a larger row.
func TestAnotherLengthThanPlanned(t *testing.T) {
	l := newLoader(t, spoken(t, 1), options8k(1))
	x, err := feature.New(l.o.Feature)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []int{-1, 1} {
		e := l.example(0, l.set.At(0))
		e.Planned += off
		l.fill(e, 0, new(audio.Reader), x)
		if e.Err == nil || !strings.Contains(e.Err.Error(), "changed since the manifest was read") || e.Features != nil || e.Frames != 0 {
			t.Errorf("planned %+d: %d frames, %v", off, e.Frames, e.Err)
		}
	}
}

// Orders and speeds are part of what a seed means: a checkpoint goes on with them. These are those of the first
// version.
func TestOrderAndSpeedsNeverChange(t *testing.T) {
	o, err := NewOrder(lengthsFor(30), 4, 11)
	if err != nil {
		t.Fatal(err)
	}
	for epoch, want := range [][]int32{
		{11, 19, 12, 20, 2, 17, 29, 23, 18, 9, 22, 21, 27, 28, 0, 3, 1, 14, 13, 5, 25, 26, 24, 4, 7, 8, 6, 10, 16, 15},
		{1, 14, 13, 5, 11, 19, 20, 18, 2, 17, 29, 23, 7, 8, 6, 10, 25, 26, 24, 4, 15, 9, 16, 22, 27, 28, 0, 3, 12, 21},
		{27, 28, 0, 3, 25, 26, 24, 4, 2, 17, 29, 23, 18, 9, 15, 16, 22, 7, 6, 10, 11, 19, 12, 20, 1, 14, 13, 5, 8, 21},
	} {
		if got := o.build(epoch); !slices.Equal(got, want) {
			t.Errorf("epoch %d: order %v, was %v", epoch, got, want)
		}
	}
	a := feature.Augment{Speeds: nineSpeeds}
	for epoch, want := range []string{
		"97/100 97/100 97/100 97/100 103/100 109/100 97/100 109/100 28/25 91/100 91/100 28/25",
		"97/100 47/50 109/100 91/100 109/100 109/100 103/100 22/25 109/100 97/100 97/100 47/50",
		"103/100 109/100 91/100 97/100 53/50 103/100 97/100 53/50 1/1 53/50 91/100 103/100",
	} {
		var got []string
		for u := range 12 {
			got = append(got, a.Speed(feature.Key(11, epoch, philox.ID(fmt.Sprintf("u%d", u)))).String())
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("epoch %d: speeds %s, were %s", epoch, all, want)
		}
	}
	if key := feature.Key(11, 2, philox.ID("u7")); key != 0x34c9cea93b292e0a {
		t.Errorf("key %x", key)
	}
}

// manyLengths is a loader over n utterances without files.
func manyLengths(t testing.TB, n int) *Loader {
	var us []*Utterance
	for i, frames := range lengthsFor(n) {
		id := fmt.Sprintf("u%d", i)
		us = append(us, &Utterance{ID: id, Key: philox.ID(id), Recording: &Recording{Info: audio.Info{Rate: 16000}}, Samples: 160 * int(frames), Frames: int(frames), Tokens: make([]int32, 5)})
	}
	o := withSpeeds(LoaderOptions{Seed: 3, Window: 32, Feature: feature.Default()})
	return newLoader(t, NewSet("x", 16000, us...), o)
}

// Enumerating an epoch allocates its order and nothing for each utterance.
func TestLengthsAllocateLittle(t *testing.T) {
	l := manyLengths(t, 10_000)
	var lengths []Length
	epoch := 0
	n := testing.AllocsPerRun(5, func() {
		for k := range l.Windows() {
			lengths = l.Lengths(epoch, k, lengths)
		}
		epoch++
	})
	// The order of an epoch is two permutations, a shuffled list and the list that is kept.
	if n > 10 {
		t.Errorf("%v allocations for an epoch of 10000 utterances", n)
	}
}

// One epoch of a large set: its order, its speeds, its lengths.
func BenchmarkLengths(b *testing.B) {
	l := manyLengths(b, 100_000)
	var lengths []Length
	b.ReportAllocs()
	epoch := 0
	for b.Loop() {
		for k := range l.Windows() {
			lengths = l.Lengths(epoch, k, lengths)
		}
		epoch++
	}
}

package recognize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/data/text"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize/transcript"
	"konkanitrain/update"
)

// Long sound gives the text of the words that it is made of, cut at its pauses, and joined where there is none.
func TestLongIsTheSumOfItsWords(t *testing.T) {
	const rate = 8000
	m := local(t, rate)
	for _, pause := range []string{" | ", " |", " "} {
		words := babbled(120, 5)
		r := soundOf(t, rate, chant(strings.Join(words, pause), 0.3, rate))
		want := strings.Join(words, " ")
		for _, seconds := range []float64{2.5, 4, 7, 600} {
			got, _, _ := cutInto(t, m, r, seconds, 0)
			if got.Text() != want {
				t.Errorf("pauses %q, pieces of %g s: %q, want %q", pause, seconds, got.Text(), want)
			}
			if n := len(got.Segments); (n > 1) != (seconds < 600) {
				t.Errorf("pauses %q, pieces of %g s: %d segments", pause, seconds, n)
			}
			inOrder(t, got.Segments)
		}
	}
}

// Words of the bundled example, one after the other without pauses, give in pieces what they give as a whole; with
// pauses they are the pieces, and give what each gives alone, but for where a network's frames lie in them.
func TestLongWordsOfTheExample(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "examples", "konkani_words", "wav", "v01", "*.wav"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d words, %v", len(paths), err)
	}
	rate := 0
	for _, pause := range []float64{0, 0.5} {
		var all []int
		var bounds []float64
		for _, path := range paths[:20] {
			bounds = append(bounds, float64(len(all))/float64(max(rate, 1)))
			info, x, err := new(audio.Reader).Read(audio.File(path), nil, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			rate = info.Rate
			for _, v := range x {
				all = append(all, int(v*32768))
			}
			all = append(all, make([]int, int(pause*float64(rate)))...)
		}
		m := local(t, rate)
		r := soundOf(t, rate, all)
		whole, _, _ := cutInto(t, m, r, 600, 4)
		if len(strings.ReplaceAll(whole.Text(), " ", "")) < 50 {
			t.Fatalf("this test says little: %q", whole.Text())
		}
		if pause > 0 {
			apart, _, _ := cutInto(t, m, r, 5, 0)
			inPauses(t, apart.Segments, bounds, pause)
			var alone []string
			for _, path := range paths[:20] {
				word, _, _ := cutInto(t, m, FileRecording(path), 600, 4)
				alone = append(alone, word.Text())
			}
			var score text.Score
			if score.Add(strings.ReplaceAll(strings.Join(alone, ""), " ", ""), strings.ReplaceAll(apart.Text(), " ", "")); score.CER() > 0.25 {
				t.Errorf("pieces: %q\nalone: %q", apart.Text(), strings.Join(alone, " "))
			}
			continue
		}
		for _, seconds := range []float64{2, 3, 5} {
			if got, _, _ := cutInto(t, m, r, seconds, 0); strings.Join(strings.Fields(got.Text()), "") != strings.Join(strings.Fields(whole.Text()), "") {
				t.Errorf("pauses of %g s, pieces of %g s: %q\nas a whole: %q", pause, seconds, got.Text(), whole.Text())
			}
		}
	}
}

// inPauses fails where a word, which begins at one of these times, is cut in two: segments start in a pause, or soon
// behind one, as words begin softly.
func inPauses(t testing.TB, segments []transcript.Segment, begins []float64, pause float64) {
	t.Helper()
	for _, s := range segments {
		near := math.Inf(1)
		for _, b := range begins {
			if d := s.Start - b; d > -pause {
				near = min(near, d)
			}
		}
		if near > 0.25 {
			t.Errorf("segment %q starts %.2f s behind the begin of a word", s.Text, near)
		}
	}
	if len(segments) < len(begins)/3 { // words of half a second come together
		t.Errorf("%d words are in %d pieces", len(begins), len(segments))
	}
}

// Of silence, however long, there is one segment, without a text; it is nothing that can't be read.
func TestLongSilence(t *testing.T) {
	const rate = 8000
	m := local(t, rate)
	var log strings.Builder
	m.log = &log
	for _, seconds := range []int{1, 20} {
		log.Reset()
		got, _, _ := cutInto(t, m, soundOf(t, rate, make([]int, seconds*rate)), 3, 0)
		if len(got.Segments) != 1 || got.Text() != "" || got.Segments[0].Start != 0 || math.Abs(got.Segments[0].End-float64(seconds)) > 0.1 {
			t.Errorf("%d s: %+v", seconds, got.Segments)
		}
		if strings.Count(log.String(), "WARNING:") != 1 || !strings.Contains(log.String(), "silence: every sample is 0") {
			t.Errorf("%d s: it is said: %s", seconds, log.String()) // and not that it is quiet
		}
	}
}

// A transcription that goes on from where an earlier one said that it can gives the segments that follow there.
func TestLongGoesOn(t *testing.T) {
	const rate = 8000
	m := local(t, rate)
	for name, samples := range map[string][]int{
		"pauses":    chant(strings.Join(babbled(60, 7), " | "), 0.3, rate),
		"no pauses": chant(strings.Join(babbled(60, 7), " "), 0, rate),
	} {
		r := soundOf(t, rate, samples)
		whole, rests, after := cutInto(t, m, r, 3, 0)
		joined := 0
		for i, rest := range rests {
			written, err := json.Marshal(rest)
			again := r
			if err = errors.Join(err, json.Unmarshal(written, &again.From)); err != nil {
				t.Fatal(err)
			}
			got, _, _ := cutInto(t, m, again, 3, 0)
			if fmt.Sprint(got.Segments) != fmt.Sprint(whole.Segments[after[i]:]) {
				t.Errorf("%s: from %s: %v\nwant %v", name, written, got.Segments, whole.Segments[after[i]:])
			}
			if rest.Joined > 0 {
				joined++
			}
		}
		if len(rests) < 5 || (joined < 5) != (name != "no pauses") {
			t.Errorf("%s: %d places to go on, %d of them where pieces overlap: this test says little", name, len(rests), joined)
		}
	}
}

// spy notes what each worker is given, in floating-point operations, and computes nothing.
type spy struct {
	update.Replica
	t      *testing.T
	total  float64
	busy   float64 // the sum over passes of what the worker with most to do has
	passes int
}

func (s *spy) Run(p *engine.Pass[update.Variant]) error {
	loads := make([]float64, s.Wishes().Workers)
	for _, b := range p.Batches {
		prices, err := s.Prices([]update.Variant{b.Key})
		if err != nil {
			s.t.Error(err)
		}
		loads[b.Worker] += prices[0].FLOPs
		s.total += prices[0].FLOPs
	}
	s.busy += slices.Max(loads)
	s.passes++
	return nil
}

// Work is shared so that two workers are nearly twice as fast as one, among short files and in long ones. It is counted
// in operations, as no test can rely on time.
func TestTranscribeSharesTheWork(t *testing.T) {
	short := func(n int, seed uint64) []spoken {
		r := testkit.Rand(seed)
		lines := make([]spoken, n)
		for i := range lines {
			lines[i].samples = 8000 + r.IntN(48000) // 0.5 to 3.5 s
		}
		return lines
	}
	long := short(200, 2)
	long[10].samples = 120 * 16000
	for _, c := range []struct {
		name    string
		lines   []spoken
		workers int
		speedup float64
	}{
		{"200 short files", short(200, 1), 2, 1.9},
		{"200 short files", short(200, 1), 4, 3.6},
		{"one long file among them", long, 2, 1.8},
		{"a long file", []spoken{{samples: 400 * 16000}}, 2, 1.9},
	} {
		_, paths := speak(t, c.lines)
		d := described(t)
		r := &spy{Replica: newReplica(t, d, 1, c.workers, device.NewHost()), t: t}
		transcripts(t, newModel("spied on", d, r, io.Discard), paths...)
		if got := r.total / r.busy; !(got >= c.speedup) {
			t.Errorf("%s: %d workers are %.2f times as fast as one (%d passes), want %g", c.name, c.workers, got, r.passes, c.speedup)
		}
	}
}

// What comes through a pipe gets the text that it gets as a file.
func TestTranscribePipe(t *testing.T) {
	r := soundOf(t, 16000, chant(strings.Join(babbled(60, 7), " | "), 0.3, 16000))
	m := random(t, described(t), 2)
	want, _, _ := cutInto(t, m, r, 3, 0)
	f, err := os.Open(r.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, _, _ := cutInto(t, m, Recording{Name: "-", Pipe: f}, 3, 0)
	if got.Text() != want.Text() || len(got.Segments) != len(want.Segments) {
		t.Errorf("%q, as a file %q", got.Text(), want.Text())
	}
}

package recognize

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/device"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
	"konkanitrain/recognize/transcript"
	"konkanitrain/update"
)

// tones are what a model writes that hears no further than a frame: a letter for each band of the mel scale, of which
// the last is a space, and nothing where it is quiet.
const tones = "abcdefg "

// local is a model whose network is a function of single frames: so what it says of a stretch of sound doesn't depend
// on what is around it, and long sound must give the same text however it is cut.
func local(t testing.TB, rate int) *Model {
	t.Helper()
	v, err := text.NewVocabulary([]rune(tones))
	if err != nil {
		t.Fatal(err)
	}
	d := described(t)
	d.Vocabulary, d.Network.Vocab = v, v.Size()
	d.Features.SampleRate, d.Features.Normalize = rate, feature.None
	m := newModel("local", d, newReplica(t, d, 1, 2, device.NewHost()), io.Discard)
	m.recognizer.run = func(_ context.Context, window []*data.Example, ask update.Ask) ([]update.Loss, error) {
		for i, x := range window {
			if x.Err == nil {
				ask.Logits(0, i, bands(x, d))
			}
		}
		return make([]update.Loss, len(window)), nil
	}
	return m
}

// bands are the logits of such a network, [S, V].
func bands(x *data.Example, d *Description) []float32 {
	bins, size, v := d.Network.NumMels, d.Network.Subsampling, d.Network.Vocab
	s := model.Shape{Frames: x.Frames}.Encoded(d.Network)
	logits := make([]float32, s*v)
	for i := range s {
		sums := make([]float64, bins)
		for f := i * size; f < min((i+1)*size, x.Frames); f++ {
			for k, e := range x.Features[f*bins:][:bins] {
				sums[k] += float64(e) / float64(size)
			}
		}
		best := 0
		for k := range sums {
			if sums[k] > sums[best] {
				best = k
			}
		}
		id := int(d.Vocabulary.Encode(tones[best*len(tones)/bins:][:1], nil)[0])
		if sums[best] < 12 {
			id = int(text.Blank)
		}
		for k := range v {
			logits[i*v+k] = -5
		}
		logits[i*v+id] = 5
	}
	return logits
}

// cutInto is what a recording gives in pieces of so many seconds: its segments, and where it could be gone on with.
func cutInto(t testing.TB, m *Model, r Recording, seconds, overlap float64) (whole Transcript, rests []Rest, after []int) {
	t.Helper()
	out := &marked{gathering: gathering{paths: []string{r.Name}, emit: func(x Transcript) error { whole = x; return nil }}}
	if err := m.TranscribeAll(t.Context(), []Recording{r}, TranscribeOptions{PieceSeconds: seconds, OverlapSeconds: overlap}, out); err != nil {
		t.Fatal(err)
	}
	if whole.Err != nil {
		t.Fatal(whole.Err)
	}
	return whole, out.rests, out.after
}

// marked also notes what Through is told, and after how many segments.
type marked struct {
	gathering
	rests []Rest
	after []int
}

func (m *marked) Through(r Rest) error {
	m.rests, m.after = append(m.rests, r), append(m.after, len(m.now.Segments))
	return nil
}

// chant is tones for the letters of a text, each 0.15 s, with pauses of so many seconds where it has a |.
func chant(said string, pause float64, rate int) []int {
	noise := testkit.Normal[float64](3, 4096)
	var x []int
	for _, c := range said {
		seconds := 0.16
		if c == '|' {
			seconds = pause
		}
		hz := middle(strings.IndexRune(tones, c), rate)
		for i := range int(seconds * float64(rate)) {
			v := 3 * noise[len(x)%len(noise)]
			if c != '|' {
				ramp := min(1, float64(min(i, int(seconds*float64(rate))-i))/80)
				v += 8000 * ramp * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))
			}
			x = append(x, int(v))
		}
	}
	return x
}

// middle is the frequency in Hz in the middle of a letter's bands.
func middle(letter, rate int) float64 {
	mel := func(hz float64) float64 { return 1127 * math.Log(1+hz/700) }
	low, high := mel(20), mel(float64(rate)/2)
	m := low + (high-low)*(float64(letter)+0.5)/float64(len(tones))
	return 700 * (math.Exp(m/1127) - 1)
}

// babbled is n words of a made-up language.
func babbled(n int, seed uint64) []string {
	r := testkit.Rand(seed)
	var list []string
	for range n {
		word := ""
		for range 1 + r.IntN(7) {
			c := tones[r.IntN(len(tones)-1)]
			if strings.HasSuffix(word, string(c)) {
				continue // a tone that goes on is one letter
			}
			word += string(c)
		}
		list = append(list, word)
	}
	return list
}

// soundOf writes a file.
func soundOf(t testing.TB, rate int, samples []int) Recording {
	path := filepath.Join(t.TempDir(), "sound.wav")
	testkit.WriteWAV(t, path, rate, samples)
	return FileRecording(path)
}

// inOrder fails where segments or their words aren't one after the other.
func inOrder(t testing.TB, segments []transcript.Segment) {
	t.Helper()
	at := 0.0
	for i, s := range segments {
		if s.Start < at-1e-9 || s.End < s.Start {
			t.Errorf("segment %d, %q, is from %.3f to %.3f s, after %.3f", i, s.Text, s.Start, s.End, at)
		}
		at = s.End
		if !slices.IsSortedFunc(s.Words, func(a, b transcript.Unit) int {
			if a.End > b.Start+1e-9 {
				return 1
			}
			return 0
		}) {
			t.Errorf("segment %d: words aren't one after the other: %+v", i, s.Words)
		}
	}
}

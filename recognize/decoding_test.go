package recognize

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/text"
	"konkanitrain/engine"
	"konkanitrain/internal/ngram"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize/decode"
	"konkanitrain/recognize/transcript"
)

// lmOf writes a language model of sentences to a file.
func lmOf(t testing.TB, o ngram.Options, sentences ...string) string {
	t.Helper()
	c, err := ngram.NewCounter(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sentences {
		if err := c.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	m, _, err := c.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := m.WriteARPA(&b, ""); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lm.arpa")
	write(t, path, b.String())
	return path
}

// mustRead makes a reader of a vocabulary of these characters.
func mustRead(t testing.TB, chars string, d Decoding) *reader {
	t.Helper()
	v, err := text.NewVocabulary([]rune(chars))
	if err != nil {
		t.Fatal(err)
	}
	s := &script{Decoding: d, tokenizer: v, size: v.Size(), frame: 0.04}
	if s.fusion, err = d.load(v, text.Policy{}, func(w string) { t.Error(w) }); err != nil {
		t.Fatal(err)
	}
	r, err := newReader(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// saying is logits that say a text, each letter for one frame and then blanks; where a letter is followed by
// a slash and another one, both are about as likely, the first a little more.
func saying(t testing.TB, r *reader, said string, blanks int) (logits []float32) {
	t.Helper()
	row := func(likely ...rune) {
		frame := make([]float32, r.size)
		for i, c := range likely {
			id := text.Blank
			if c != 0 {
				id = r.tokenizer.Encode(string(c), nil)[0]
			}
			frame[id] = 12 - 0.5*float32(i)
		}
		logits = append(logits, frame...)
	}
	letters := []rune(said)
	for i := 0; i < len(letters); i++ {
		if i+2 < len(letters) && letters[i+1] == '/' {
			row(letters[i], letters[i+2])
			i += 2
		} else {
			row(letters[i])
		}
		for range blanks {
			row(0)
		}
	}
	return logits
}

// What takes part in a beam search decides between what sounds alike, and nothing else does.
func TestDecodingDecides(t *testing.T) {
	sentences := []string{"the cat sat", "the cat ran", "a cat sat", "the dog sat"}
	words := lmOf(t, ngram.Options{Order: 2}, sentences...)
	characters := lmOf(t, ngram.Options{Unit: ngram.Characters, Order: 4}, sentences...)
	const alphabet = " abcdeghnorst"
	said := "the b/cat sat"
	for name, c := range map[string]struct {
		Decoding
		want string
	}{
		"greedy":             {Decoding{}, "the bat sat"},
		"beam":               {Decoding{Decoder: Beam}, "the bat sat"},
		"words":              {Decoding{Decoder: Beam, LM: words, LMWeight: 0.5}, "the cat sat"},
		"words without say":  {Decoding{Decoder: Beam, LM: words}, "the bat sat"},
		"characters":         {Decoding{Decoder: Beam, LM: characters, LMWeight: 0.5}, "the cat sat"},
		"hotword":            {Decoding{Decoder: Beam, Hotwords: "cat :1"}, "the cat sat"},
		"hotword of boost":   {Decoding{Decoder: Beam, Hotwords: "# comment\ncat", Boost: 1}, "the cat sat"},
		"weak hotword":       {Decoding{Decoder: Beam, Hotwords: "cat :0.01"}, "the bat sat"},
		"other hotword":      {Decoding{Decoder: Beam, Hotwords: "ca :5"}, "the bat sat"},
		"length":             {Decoding{Decoder: Beam, LengthWeight: -40}, ""},
		"hotword and length": {Decoding{Decoder: Beam, Hotwords: "cat :1", LengthWeight: 0.1, Width: 4}, "the cat sat"},
	} {
		r := mustRead(t, alphabet, c.Decoding)
		if got := r.read(saying(t, r, said, 1)); got.Text != c.want {
			t.Errorf("%s: %q, want %q", name, got.Text, c.want)
		}
	}
}

func TestNBest(t *testing.T) {
	r := mustRead(t, " abc", Decoding{Decoder: Beam, NBest: 3})
	got := r.read(saying(t, r, " a/b c", 1)) // of which " a", "a" and "a " are the same text
	var texts []string
	for i, a := range got.Alternatives {
		texts = append(texts, a.Text)
		if i > 0 && a.Score > got.Alternatives[i-1].Score {
			t.Errorf("%+v", got.Alternatives)
		}
	}
	if len(texts) != 3 || texts[0] != got.Text || !slices.Equal(texts[:2], []string{"a c", "b c"}) {
		t.Errorf("%q", texts)
	}
}

// Words and characters lie where they were said, and the sure ones have the higher confidence.
func TestUnits(t *testing.T) {
	for _, d := range []Decoding{{Units: true}, {Units: true, Decoder: Beam}} {
		r := mustRead(t, " abc", d)
		got := r.read(saying(t, r, "ab c/a", 3)) // frames 0, 4, 8, 12 of 40 ms
		want := []transcript.Unit{{Text: "ab", Start: 0, End: 0.2}, {Text: "c", Start: 0.48, End: 0.52}}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 } // sums of a few frames' lengths
		for i, x := range want {
			if g := got.Words[i]; len(got.Words) != 2 || g.Text != x.Text || !near(g.Start, x.Start) || !near(g.End, x.End) {
				t.Errorf("%+v: %+v, want %+v", d, got.Words, want)
				break
			}
		}
		if len(got.Characters) != 3 || got.Characters[1].Text != "b" || !near(got.Characters[1].Start, 0.16) {
			t.Errorf("%+v: %+v", d, got.Characters)
		}
		if a, b := got.Words[0].Confidence, got.Words[1].Confidence; !(a > b && b >= 0 && a <= 1) {
			t.Errorf("%+v: confidences %v and %v", d, a, b)
		}
		d.Calibration = &Calibration{Slope: 0, Offset: 0}
		if got := mustRead(t, " abc", d).read(saying(t, r, "ab", 3)); got.Words[0].Confidence != 0.5 || got.Characters[1].Confidence != 0.5 {
			t.Errorf("%+v: calibrated %+v", d, got.Words)
		}
	}
}

// Of a beam search, a word's confidence is less where other hypotheses have another one in its place, and its
// characters share in that.
func TestPosteriors(t *testing.T) {
	r := mustRead(t, " abc", Decoding{Decoder: Beam, Units: true})
	got := r.read(saying(t, r, "ab c/a b", 2))
	greedy := mustRead(t, " abc", Decoding{Units: true})
	plain := greedy.read(saying(t, r, "ab c/a b", 2))
	var share []float64
	for i, w := range got.Words {
		share = append(share, w.Confidence/plain.Words[i].Confidence)
	}
	// One of the two is exp(0.5) times as likely as the other, in a single frame: 0.62 of both.
	want := 1 / (1 + math.Exp(-0.5))
	if len(share) != 3 || share[0] < 0.99 || share[2] < 0.99 || math.Abs(share[1]-want) > 0.01 {
		t.Errorf("posteriors %v, want 1, %.4f and 1", share, want)
	}
	for i, c := range got.Characters {
		of := share[[]int{0, 0, 1, 2}[i]]
		if p := c.Confidence / plain.Characters[i].Confidence; math.Abs(p-of) > 1e-9 {
			t.Errorf("character %d has the share %v, its word %v", i, p, of)
		}
	}
}

// A frame allocates nothing: an utterance costs the same however long its pauses are.
func TestReadingAllocatesNothingPerFrame(t *testing.T) {
	words := lmOf(t, ngram.Options{Order: 2}, "ab c", "c ab ab")
	for name, d := range map[string]Decoding{
		"greedy": {}, "greedy with units": {Units: true}, "beam": {Decoder: Beam, Width: 8}, "all": {
			Decoder: Beam, Width: 8, LM: words, LMWeight: 0.5, LengthWeight: 0.1, Hotwords: "ab :1", Units: true, NBest: 2,
		},
	} {
		r := mustRead(t, " abc", d)
		short, long := saying(t, r, "ab c", 2), saying(t, r, "ab c", 100)
		count := func(logits []float32) float64 { return testing.AllocsPerRun(20, func() { r.read(logits) }) }
		count(long) // its scratch
		a, b := count(short), count(long)
		if a != b {
			t.Errorf("%s: %v allocations for %d frames, %v for %d", name, a, len(short)/r.size, b, len(long)/r.size)
		}
		if r.Bytes(len(long)/r.size) < r.Bytes(len(short)/r.size) || r.Bytes(1) <= 0 {
			t.Errorf("%s: it says that it takes %d bytes", name, r.Bytes(1))
		}
	}
}

// A file gets the same transcript alone and among others, whatever the number of workers.
func TestBeamIsTheSameInAnyBatch(t *testing.T) {
	d := described(t)
	lm := lmOf(t, ngram.Options{Order: 2}, "ch c", "c d hc", "d")
	decoding := Decoding{Decoder: Beam, Width: 8, LM: lm, LMWeight: 0.3, LengthWeight: 1, Hotwords: "hd* :2", NBest: 4, Units: true}
	_, paths := speak(t, babble(40, 1))
	all := func(workers int, batches ...[]string) []Transcript {
		m := random(t, d, workers)
		if err := m.SetDecoding(decoding); err != nil {
			t.Fatal(err)
		}
		return transcribed(t, m, batches...)
	}
	want := all(1, oneByOne(paths)...)
	if len(want[0].Segments[0].Alternatives) < 2 {
		t.Errorf("no alternatives: %+v", want[0])
	}
	for _, workers := range []int{1, 2, 3} {
		mustEqual(t, fmt.Sprint(workers, " workers"), all(workers, paths), want)
	}
	// Where the replica leaves the host's cores free, they search.
	m := random(t, d, 1)
	m.recognizer.beside = 4
	if err := m.SetDecoding(decoding); err != nil {
		t.Fatal(err)
	}
	if n := len(m.recognizer.readers); n != 4 {
		t.Errorf("%d readers, want 4", n)
	}
	mustEqual(t, "4 cores beside", transcribed(t, m, paths), want)
}

func oneByOne(paths []string) (batches [][]string) {
	for _, p := range paths {
		batches = append(batches, []string{p})
	}
	return batches
}

// transcribed are the transcripts of batches of files.
func transcribed(t testing.TB, m *Model, batches ...[]string) (got []Transcript) {
	t.Helper()
	for _, b := range batches {
		err := m.Transcribe(t.Context(), b, func(x Transcript) error {
			got = append(got, x)
			return x.Err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// mustEqual wants the same texts with the same times, and scores and confidences that are the same but for the rounding
// of OpenBLAS, which goes by the number of rows: sums of some tens of log-probabilities, off by productTolerance each.
func mustEqual(t testing.TB, what string, got, want []Transcript) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 50*productTolerance*(1+math.Abs(b)) }
	units := func(a, b []transcript.Unit) bool {
		return slices.EqualFunc(a, b, func(x, y transcript.Unit) bool {
			same := x.Text == y.Text && x.Start == y.Start && x.End == y.End
			return same && near(x.Confidence, y.Confidence)
		})
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d transcripts, want %d", what, len(got), len(want))
	}
	for i := range want {
		a, b := got[i], want[i]
		same := a.Path == b.Path && a.Duration == b.Duration && len(a.Segments) == 1
		if same {
			x, y := a.Segments[0], b.Segments[0]
			same = x.Text == y.Text && units(x.Words, y.Words) && units(x.Characters, y.Characters) &&
				slices.EqualFunc(x.Alternatives, y.Alternatives, func(x, y transcript.Alternative) bool { return x.Text == y.Text && near(x.Score, y.Score) })
		}
		if !same {
			t.Errorf("%s: %+v, want %+v", what, a, b)
		}
	}
}

func TestDecodingChecks(t *testing.T) {
	for d, want := range map[Decoding]string{
		{Decoder: "best"}:                    `no decoder "best"`,
		{LM: "x"}:                            "want --decoder beam",
		{Hotwords: "x"}:                      "want --decoder beam",
		{NBest: 2}:                           "greedy decoding has one hypothesis",
		{Decoder: Beam, NBest: 9, Width: 8}:  "want a wider beam",
		{Decoder: Beam, LM: "nowhere.arpa"}:  "nowhere.arpa",
		{Decoder: Beam, Hotwords: "a"}:       "boost",
		{Decoder: Beam, Hotwords: "é :1"}:    "which no token of the model writes",
		{Decoder: Beam, Width: 1 << 20}:      "a beam of",
		{Decoder: Beam, Hotwords: "a :nine"}: "line 1",
	} {
		m := random(t, described(t), 1)
		testkit.MustFail(t, m.SetDecoding(d), want)
	}
}

// A language model with nothing that the network can write would do nothing at all: it is refused. One of which it can
// write little is told of.
func TestLanguageModelOfOtherLetters(t *testing.T) {
	for _, o := range []ngram.Options{{Order: 2}, {Order: 2, Unit: ngram.Characters}} {
		m := random(t, described(t), 1)
		testkit.MustFail(t, m.SetDecoding(Decoding{Decoder: Beam, LM: lmOf(t, o, "देव बरें करूं")}), "the model can write none of its", "another vocabulary")
	}
	v, err := decode.NewVocabulary(writes(described(t).Vocabulary), text.Blank)
	if err != nil {
		t.Fatal(err)
	}
	for sentence, want := range map[string]string{
		"a bad cab x": "",
		"a bé cé":     `lm.arpa: the model can write 1 of its 3 words, not "bé", say`,
	} {
		lm, _, err := ngram.Read(lmOf(t, ngram.Options{Order: 2}, sentence))
		if err != nil {
			t.Fatal(err)
		}
		warning, err := Decoding{LM: "lm.arpa"}.covers(v, lm)
		if err != nil || !strings.HasPrefix(warning, want) || want == "" && warning != "" {
			t.Errorf("%q: %q, %v", sentence, warning, err)
		}
	}
}

// A network that has overflowed has no text: its recordings have an error. In a score each of its words is wrong.
func TestNoNumbers(t *testing.T) {
	_, paths := speak(t, babble(2, 1))
	d := described(t)
	m := random(t, d, 1)
	large := make([]byte, 4*d.Network.Vocab*d.Network.DModel)
	for i := 0; i < len(large); i += 4 {
		binary.LittleEndian.PutUint32(large[i:], math.Float32bits(3e38))
	}
	if err := m.replica.Import(engine.Weights, "ctc.weight", bytes.NewReader(large)); err != nil {
		t.Fatal(err)
	}
	for _, decoder := range []Decoder{Greedy, Beam, Rescore, Joint} {
		if err := m.SetDecoding(Decoding{Decoder: decoder, AttentionWeight: 1}); err != nil {
			t.Fatal(err)
		}
		err := m.Transcribe(t.Context(), paths, func(x Transcript) error {
			testkit.MustFail(t, x.Err, "is no numbers: its weights are too large")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	err := m.Align(t.Context(), []Said{{paths[0], "a"}}, func(x Transcript) error {
		testkit.MustFail(t, x.Err, "is no numbers")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What a decoder takes is told to the pool by name.
func TestDecodingCounts(t *testing.T) {
	lm := lmOf(t, ngram.Options{Order: 2}, "a b")
	m := mustLoad(t, saved(t, t.TempDir(), 1, described(t), 1, nil), LoadOptions{Workers: 2})
	if err := m.SetDecoding(Decoding{Decoder: Beam, LM: lm, LMWeight: 1}); err != nil {
		t.Fatal(err)
	}
	_, paths := speak(t, babble(3, 1))
	held := map[string]int64{}
	o := TranscribeOptions{Batch: func(BatchMemory) {
		for _, h := range m.pools.Host.Holders() {
			held[h.Name] = h.Bytes
		}
	}}
	list := []Recording{FileRecording(paths[0]), FileRecording(paths[1]), FileRecording(paths[2])}
	if err := m.TranscribeAll(t.Context(), list, o, &gathering{paths: paths, emit: func(x Transcript) error { return x.Err }}); err != nil {
		t.Fatal(err)
	}
	frames := 0
	for _, s := range babble(3, 1) {
		frames = max(frames, (s.samples/160+3)/4)
	}
	if held["decoding"] < 2*m.recognizer.readers[0].Bytes(frames) || held["language model and hotwords"] <= 0 {
		t.Errorf("%v", held)
	}
	m.pools.Host.SetLimit(m.pools.Host.Usage().Reserved + m.pools.Host.Usage().Held)
	big := make([]string, 300)
	for i := range big {
		big[i] = strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "aa", "9", "bb").Replace(fmt.Sprintf("%d %d", i, 300+i))
	}
	err := m.SetDecoding(Decoding{Decoder: Beam, LM: lmOf(t, ngram.Options{Order: 3}, big...), LMWeight: 1})
	if !OutOfMemory(err) {
		t.Errorf("a language model beyond the limit: %v", err)
	}
}

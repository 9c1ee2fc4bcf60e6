package ngram

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// small is a model by hand: order 3, one weight missing, and a 3-gram (a b a) whose end b a is no 2-gram, as SRILM
// prunes them.
const small = `
\data\
ngram 1=5
ngram 2=4
ngram 3=3

\1-grams:
-1	<unk>
-99	<s>	-0.5
-0.7	</s>
-0.4	a	-0.3
-0.6	b	-0.2

\2-grams:
-0.3	<s> a	-0.1
-0.5	a b	-0.25
-0.8	a </s>
-0.9	b b	-0.15

\3-grams:
-0.2	<s> a b
-0.35	a b a
-0.45	b b </s>

\end\
`

func read(t testing.TB, text string) (*Model, []string) {
	t.Helper()
	m, warnings, err := ReadARPA("lm.arpa", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m, warnings
}

// Each score is a sum of numbers of the file, found by hand.
func TestScores(t *testing.T) {
	m, warnings := read(t, small)
	if len(warnings) > 0 || m.Order() != 3 || fmt.Sprint(m.Counts()) != "[5 4 3]" {
		t.Error(warnings, m.Order(), m.Counts())
	}
	for _, c := range []struct {
		text string
		want []float64 // of each word and the end
	}{
		{"", []float64{-0.5 - 0.7}},
		{"a", []float64{-0.3, -0.1 - 0.8}},
		{"a b a", []float64{-0.3, -0.2, -0.35, -0.8}},              // behind a b a is a: there is no b a
		{"b b b", []float64{-0.5 - 0.6, -0.9, -0.15 - 0.9, -0.45}}, // <s> b is not there
		{"c a", []float64{-0.5 - 1, -0.4, -0.8}},
		{"a c", []float64{-0.3, -0.1 - 0.3 - 1, -0.7}},
		{"a b c", []float64{-0.3, -0.2, -0.25 - 0.2 - 1, -0.7}},
	} {
		at, total := m.Begin(), 0.0
		for i, part := range append(strings.Fields(c.text), "</s>") {
			w, _ := m.Vocabulary().ID(part)
			var nats float64
			nats, at = m.Score(at, w)
			total += nats
			if math.Abs(nats/math.Ln10-c.want[i]) > 1e-6 {
				t.Errorf("%q: word %d: log10 probability %v, want %v", c.text, i, nats/math.Ln10, c.want[i])
			}
		}
		if s := m.Sentence(c.text, Words); math.Abs(s.Nats-total) > 1e-9 || s.Words != len(strings.Fields(c.text)) {
			t.Errorf("%q: %+v, want %v nats", c.text, s, total)
		}
	}
}

// What is written as a mark is a word like any other that isn't known.
func TestMarksInTexts(t *testing.T) {
	m, _ := read(t, small)
	if got, want := m.Sentence("a <s> </s> <unk>", Words), m.Sentence("a x y z", Words); got != want || got.Unknown != 3 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A state forgets what can make no difference: hypotheses that have the same future can be joined.
func TestStates(t *testing.T) {
	m, _ := read(t, small)
	after := func(text string) State {
		at := m.Begin()
		for _, part := range strings.Fields(text) {
			w, _ := m.Vocabulary().ID(part)
			_, at = m.Score(at, w)
		}
		return at
	}
	for _, same := range [][]string{{"b a", "c a", "a b a"}, {"c", "a c", "b b c c"}, {"b b", "a b b", "c b b"}} {
		for _, text := range same[1:] {
			if after(text) != after(same[0]) {
				t.Errorf("another state behind %q than behind %q", text, same[0])
			}
		}
	}
	if after("a") == after("c a") || after("a b") == after("c b") {
		t.Error("one state for what has different futures")
	}
	for _, w := range []Word{Word(m.Vocabulary().Size()), math.MaxUint32} {
		got, _ := m.Score(m.Begin(), w)
		if want, _ := m.Score(m.Begin(), Unknown); got != want {
			t.Errorf("word %d of a vocabulary of %d: %v", w, m.Vocabulary().Size(), got)
		}
	}
}

// What is written is read as the same model, to the bit, whatever the order of lines and the way of separating fields;
// also compressed, under any name.
func TestARPABackAndForth(t *testing.T) {
	cases(func(name string, texts []string, o Options) {
		m, _ := estimated(t, texts, o)
		text := written(t, m)
		back, warnings := read(t, text)
		if written(t, back) != text || len(warnings) > 0 {
			t.Fatalf("%s: another model: %v", name, warnings)
		}
		other, warnings := read(t, shuffled(text))
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := z.Write([]byte(text))
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		unpacked, _, err := ReadARPA("lm.arpa", &packed)
		if err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
		for _, s := range texts[:min(len(texts), 50)] {
			want := m.Sentence(s, Words)
			if a, b := back.Sentence(s, Words), unpacked.Sentence(s, Words); a != want || b != want {
				t.Errorf("%s: %q: %v and %v, want %v", name, s, a, b, want)
			}
			if got := other.Sentence(s, Words); got != want {
				t.Errorf("%s, lines in another order: %q: %v, want %v", name, s, got, want)
			}
		}
	})
}

// shuffled has the lines of each order in another order, with other separators and line ends.
func shuffled(arpa string) string {
	random := rand.New(rand.NewPCG(2, 2))
	parts := strings.Split(arpa, "\n\n")
	for i, part := range parts {
		lines := strings.Split(part, "\n")
		if i > 0 {
			random.Shuffle(len(lines)-1, func(a, b int) { lines[1+a], lines[1+b] = lines[1+b], lines[1+a] })
			for k := range lines {
				lines[k] = strings.ReplaceAll(lines[k], "\t", " \t ")
			}
		}
		parts[i] = strings.Join(lines, "\r\n")
	}
	return "\ufeffsome words in front\r\n" + strings.Join(parts, "\r\n\r\n")
}

func TestARPAComment(t *testing.T) {
	m, _ := read(t, small)
	var b bytes.Buffer
	if err := m.WriteARPA(&b, "one\ntwo\n"); err != nil || !strings.HasPrefix(b.String(), "# one\n# two\n\\data\\\n") {
		t.Errorf("%v, %.40q", err, b.String())
	}
	read(t, b.String())
	if err := m.WriteARPA(fullDisk{}, ""); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// FuzzARPA: whatever is read gives numbers, and is written and read as the same model.
func FuzzARPA(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(shuffled(small)))
	f.Add([]byte("\\data\\\nngram 1=3\nngram 2=2\n\\1-grams:\n-1 <s> 1\n-inf </s>\n0 a -99\n\\2-grams:\n-2 a a\n-1 <s> <s>\n\\end\\"))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _, err := ReadARPA("fuzz", bytes.NewReader(text))
		if err != nil {
			return
		}
		random := rand.New(rand.NewPCG(uint64(len(text)), 1))
		for at, n := m.Begin(), 0; n < 50; n++ {
			var nats float64
			nats, at = m.Score(at, Word(random.IntN(m.Vocabulary().Size()+1)))
			if math.IsNaN(nats) || math.IsInf(nats, 0) {
				t.Fatalf("a score of %v", nats)
			}
		}
		first := written(t, m)
		back, _, err := ReadARPA("written", strings.NewReader(first))
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%q", err, first)
		}
		if written(t, back) != first {
			t.Fatalf("written again it is another:\n%q\n%q", first, written(t, back))
		}
	})
}

func TestUnits(t *testing.T) {
	if got := slices.Collect(Characters.Split("की ख")); !slices.Equal(got, []string{"क", "ी", "▁", "ख"}) {
		t.Errorf("%q", got)
	}
	if got := slices.Collect(Words.Split(" की  ख")); !slices.Equal(got, []string{"की", "ख"}) {
		t.Errorf("%q", got)
	}
	for unit, text := range map[Unit]string{Characters: "क खग", Words: "कख ग ▁"} {
		if m, _ := estimated(t, []string{text}, Options{Order: 2, Unit: unit}); m.Unit() != unit {
			t.Errorf("a model of %s is taken for one of %s", unit, m.Unit())
		}
	}
	// Of single words there is no Space: what the file says at its start tells them from words of one letter.
	m, _ := estimated(t, []string{"कख", "ग"}, Options{Order: 2, Unit: Characters})
	for _, unit := range []Unit{Words, Characters} {
		var b bytes.Buffer
		if err := m.WriteARPA(&b, unit.Heading()+", and more\nsecond line"); err != nil {
			t.Fatal(err)
		}
		if back, _, err := ReadARPA("lm.arpa", &b); err != nil || back.Unit() != unit {
			t.Errorf("a file of %s is taken for one of %s, %v", unit, back.Unit(), err)
		}
	}
	for part := range Characters.Split("कखग") {
		if part == "ख" {
			break
		}
	}
}

func TestVocabulary(t *testing.T) {
	v := newVocabulary()
	for i := range 1000 {
		w, known, err := add(v, fmt.Sprint("word", i))
		if err != nil || known || int(w) != i+3 {
			t.Fatal(w, known, err)
		}
	}
	for i := range 1000 {
		text := fmt.Sprint("word", i)
		if w, known := v.ID(text); !known || v.Text(w) != text {
			t.Fatalf("%s is %d, %s", text, w, v.Text(w))
		}
	}
	if w, known := v.ID("other"); known || w != Unknown || v.Text(Word(v.Size())) != "" || v.Text(Start) != "<s>" {
		t.Error(w, known)
	}
}

package ngram

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// golden are files of testdata/make.py: what kenlm makes of texts, and how it scores others.
func golden(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lmplz are models that kenlm's lmplz has estimated of the same texts, with its options.
var lmplz = []struct {
	file string
	o    Options
}{
	{"words.arpa", Options{Order: 3}},
	{"pruned.arpa", Options{Order: 3, Prune: []int{0, 1}}},
	{"vocabulary.arpa", Options{Order: 2, Prune: []int{1}}},
	{"letters.arpa", Options{Order: 4, Unit: Characters}},
}

// An estimate is lmplz's, n-gram by n-gram: probabilities, and weights, which lmplz adds up in float32.
func TestAsLmplz(t *testing.T) {
	texts := strings.Split(strings.TrimSpace(golden(t, "texts.txt")), "\n")
	for _, c := range lmplz {
		m, _ := estimated(t, texts, c.o)
		sameNGrams(t, c.file, m, golden(t, c.file))
	}
}

// sameNGrams holds a model to an ARPA file of another program: the same n-grams, and numbers that differ by the
// rounding of sums in float32 at most.
func sameNGrams(t *testing.T, name string, m *Model, arpa string) {
	t.Helper()
	want, warnings := read(t, arpa)
	if !slices.Equal(m.Counts(), want.Counts()) || len(warnings) > 0 {
		t.Errorf("%s: %d n-grams by order, want %d; %v", name, m.Counts(), want.Counts(), warnings)
		return
	}
	for order := 1; order <= m.Order(); order++ {
		for words, node := range want.all(order) {
			own := uint32(0)
			var text []string
			for _, w := range words {
				text = append(text, want.vocabulary.Text(w))
				id, known := m.vocabulary.ID(text[len(text)-1])
				if own = m.child(own, uint32(id)); own == 0 || !known {
					t.Errorf("%s: no n-gram %q", name, text)
					return
				}
			}
			if slices.Equal(text, []string{"<s>"}) {
				continue // it has probability 1 there, which nobody asks for
			}
			p, b := m.weights(own)
			wantP, wantB := want.weights(node)
			if d := max(math.Abs(float64(p-wantP)), math.Abs(float64(b-wantB))); d > 3e-6 {
				t.Errorf("%s: %q: %v and %v, want %v and %v", name, text, p, b, wantP, wantB)
			}
		}
	}
}

// Scores are kenlm's, of its own models: words outside the vocabulary, back-off, and n-grams of which the end is
// missing among them. kenlm has sums of some numbers in float32 for each word.
func TestAsKenlm(t *testing.T) {
	models := map[string]*Model{}
	unknown, n := 0, 0
	for line := range strings.Lines(golden(t, "scores.tsv")) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		m := models[cells[0]]
		if m == nil {
			m, _ = read(t, golden(t, cells[0]+".arpa"))
			models[cells[0]] = m
		}
		want, err := strconv.ParseFloat(cells[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Sentence(cells[2], m.Unit())
		if math.Abs(s.Log10()-want) > 1e-5 {
			t.Errorf("%s: %q: log10 probability %v, want %v", cells[0], cells[2], s.Log10(), want)
		}
		unknown += s.Unknown
		n++
	}
	if len(models) != 5 || n != 150 || unknown < 20 {
		t.Errorf("%d models, %d sentences, %d unknown words: too few to tell", len(models), n, unknown)
	}
}

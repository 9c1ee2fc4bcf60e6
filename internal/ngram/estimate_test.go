package ngram

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// sentences are made-up texts: words of a Zipf distribution, so that counts of 1, 2, 3 and 4 occur, with a likely word
// behind each.
func sentences(seed uint64, n, vocabulary int) []string {
	random := rand.New(rand.NewPCG(seed, 7))
	zipf := rand.NewZipf(random, 1.3, 2, uint64(vocabulary-1))
	texts := make([]string, n)
	for i := range texts {
		var words []string
		w := zipf.Uint64()
		for range 1 + random.IntN(9) {
			words = append(words, fmt.Sprint("w", w))
			if w = (w*7 + 3) % uint64(vocabulary); random.IntN(3) > 0 {
				w = zipf.Uint64()
			}
		}
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

func counted(t testing.TB, texts []string, o Options) *Counter {
	t.Helper()
	c, err := NewCounter(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range texts {
		if err := c.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func estimated(t testing.TB, texts []string, o Options) (*Model, *Report) {
	t.Helper()
	m, r, err := counted(t, texts, o).Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// cases are texts and options that differ in what matters: orders, pruning, fallback of discounts, short sentences.
func cases(yield func(name string, texts []string, o Options)) {
	for order := 1; order <= 5; order++ {
		for _, prune := range [][]int{nil, {0, 1}, {1}, {0, 0, 1}, {1, 2, 3}} {
			if len(prune) <= order {
				yield(fmt.Sprint("order ", order, " prune ", prune), sentences(uint64(order), 120, 40), Options{Order: order, Prune: prune})
			}
		}
	}
	yield("few", []string{"क ख", "क ग ख", "ख"}, Options{Order: 4})
	yield("one word", []string{"क"}, Options{Order: 3})
	yield("no 2-gram kept", []string{"क ख", "ग घ"}, Options{Order: 3, Prune: []int{0, 5}})
	yield("no word kept", []string{"क ख", "ग घ"}, Options{Order: 2, Prune: []int{5}})
}

// history are some words in front of one, from the start of a sentence or not: those of a text, or any.
func histories(texts []string) [][]string {
	random := rand.New(rand.NewPCG(1, 1))
	list := [][]string{{"<s>"}, {"<s>", "<unk>"}}
	for range 8 {
		words := append([]string{"<s>"}, strings.Fields(texts[random.IntN(len(texts))])...)
		list = append(list, words[:1+random.IntN(len(words))])
		other := strings.Fields(texts[random.IntN(len(texts))])
		list = append(list, slices.Concat(words, []string{"none"}), slices.Concat(words, other[:1]), slices.Concat(words, []string{"<unk>"}, other))
	}
	return list
}

// The model gives the probabilities of the paper's formula, behind what was seen and what wasn't. Weights are float32
// in log10: of up to 5 of them, each up to 8 or so, the rounding stays below 3e-6 nats.
func TestEstimateAsThePaper(t *testing.T) {
	cases(func(name string, texts []string, o Options) {
		m, _ := estimated(t, texts, o)
		r := newReference(texts, o.Order, o.Prune)
		if m.Vocabulary().Size() != len(r.vocabulary)+1 {
			t.Errorf("%s: vocabulary of %d words, want %d", name, m.Vocabulary().Size()-1, len(r.vocabulary))
		}
		for _, history := range histories(texts) {
			state := m.Begin()
			for _, w := range history[1:] {
				id, _ := m.Vocabulary().ID(w)
				_, state = m.Score(state, id)
			}
			for _, w := range r.vocabulary {
				id, known := m.Vocabulary().ID(w)
				got, _ := m.Score(state, id)
				if want := math.Log(r.p(w, unknowns(m, history))); !known || math.Abs(got-want) > 3e-6 {
					t.Errorf("%s: p(%s|%v): %v, want %v", name, w, history, got, want)
					return
				}
			}
		}
	})
}

// unknowns are the words of a history as the model has them.
func unknowns(m *Model, history []string) []string {
	out := slices.Clone(history)
	for i, w := range out {
		if _, known := m.Vocabulary().ID(w); !known {
			out[i] = marks[Unknown]
		}
	}
	return out
}

// Behind any history the probabilities of all words sum to 1. In float64, before the model rounds: sums of some hundred
// terms.
func TestProbabilitiesSumToOne(t *testing.T) {
	cases(func(name string, texts []string, o Options) {
		c := counted(t, texts, o)
		v, tokens := c.take()
		positions := sortedPositions(tokens, o.Order, v.Size())
		e := &estimate{counts: newCounts(tokens, positions, sizes(tokens, positions, o.Order, v.Size())), vocabulary: v}
		e.prune(c.options)
		e.adjust()
		e.weigh()
		for history := range uint32(len(e.backoff)) {
			sum := 0.0
			for w := range uint32(v.Size()) {
				if !e.lost(1 + w) {
					sum += e.probability(history, w)
				}
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%s: behind node %d the probabilities sum to %v", name, history, sum)
			}
		}
	})
}

// probability is p(word|history) by back-off in float64.
func (e *estimate) probability(history, word uint32) float64 {
	if history == 0 {
		return e.prob[1+word]
	}
	first, end := e.children(history)
	if n := search(e.words, first, end, word); n != 0 && !e.lost(n) {
		return e.prob[n]
	}
	return e.backoff[history] * e.probability(e.link[history], word)
}

// A model is a function of the sentences: their order, and how the words were met first, are nothing to it.
func TestOrderOfTextsDoesNotMatter(t *testing.T) {
	cases(func(name string, texts []string, o Options) {
		a, ra := estimated(t, texts, o)
		turned := slices.Clone(texts)
		slices.Reverse(turned)
		b, rb := estimated(t, turned, o)
		if written(t, a) != written(t, b) || fmt.Sprint(ra) != fmt.Sprint(rb) {
			t.Errorf("%s: another model of the texts in another order", name)
		}
	})
}

func written(t testing.TB, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.WriteARPA(&b, ""); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReport(t *testing.T) {
	_, r := estimated(t, []string{"क ख <s> क", "", "<unk>", "क ग", "क ग"}, Options{Order: 9, Prune: []int{0, 1}})
	got := fmt.Sprintf("%d %d %d %d %v %v %v", r.Sentences, r.Words, r.Marks, r.Vocabulary, r.Counted, r.Kept, r.Discounts[0].Fallback)
	// क ख क, क ग, क ग: of 2-grams <s> क (3), क ग and ग </s> (2) are kept, of 3-grams <s> क ग and क ग </s>.
	if got != "3 7 2 6 [6 6 5 3 1] [6 3 2 1] true" {
		t.Error(got)
	}
	_, r = estimated(t, sentences(3, 300, 60), Options{Order: 2})
	for k, d := range r.Discounts {
		if d.Fallback || !(0 < d.D[0] && d.D[0] < 1 && 0 < d.D[1] && d.D[1] < 2 && 0 < d.D[2] && d.D[2] < 3) {
			t.Errorf("discounts of order %d: %v", k+1, d)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for o, want := range map[*Options][]string{
		{Order: 0}:                                              {"order 0: want 1 to 10"},
		{Order: 11, Unit: "letters"}:                            {"order 11", `units "letters": want words or characters`},
		{Order: 2, Prune: []int{0, 0, 1}}:                       {"prune has 3 numbers, and the order is 2"},
		{Order: 3, Prune: []int{0, 2, 1}}:                       {"prune 1 for order 3 is below the 2 for order 2"},
		{Order: 3, Prune: []int{-1}}:                            {"prune -1: want 0"},
		{Order: 3, Unit: Words, Prune: []int{0, 1, 4294967295}}: {"prune 4294967295"},
	} {
		_, err := NewCounter(*o)
		testkit.MustFail(t, err, want...)
	}
	c, err := NewCounter(Options{Order: 3})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Estimate()
	testkit.MustFail(t, err, "no text to estimate a language model from")
}

// A limit is kept: while texts come in, and before the n-grams are counted. What is said to be needed is enough.
func TestLimit(t *testing.T) {
	texts := sentences(5, 2000, 500)
	_, r := estimated(t, texts, Options{Order: 5})
	if _, _, err := counted(t, texts, Options{Order: 5, Limit: r.Bytes}).Estimate(); err != nil {
		t.Error(err)
	}
	_, _, err := counted(t, texts, Options{Order: 5, Limit: r.Bytes - 1}).Estimate()
	testkit.MustFail(t, err, "5-grams of the texts need", "MiB of memory, and", "MiB are allowed", "a lower order, or more memory (memory_limit)")
	c, err := NewCounter(Options{Order: 5, Limit: 20000})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range texts {
		if err = c.Add(s); err != nil {
			break
		}
	}
	testkit.MustFail(t, err, "the first ", " sentences (", "of the texts need 19.6 KiB of memory, and 19.5 KiB are allowed")
}

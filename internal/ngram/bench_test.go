package ngram

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// asked are words as a beam decoder asks for them: behind each word of a text a few others too.
func asked(m *Model, texts []string) (words []Word, others []Word) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, s := range texts {
		for part := range strings.FieldsSeq(s) {
			w, _ := m.Vocabulary().ID(part)
			words = append(words, w)
			others = append(others, Word(random.IntN(m.Vocabulary().Size())))
		}
		words, others = append(words, End), append(others, Unknown)
	}
	return words, others
}

// Scoring allocates nothing.
func TestScoreAllocatesNothing(t *testing.T) {
	m, _ := estimated(t, sentences(9, 500, 200), Options{Order: 4})
	if n := testing.AllocsPerRun(100, func() {
		at := m.Begin()
		for w := range Word(20) {
			_, at = m.Score(at, w)
		}
		m.End(at)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkScore asks for the words of texts, and for any other behind each: most of these back off to the word alone.
func BenchmarkScore(b *testing.B) {
	for name, size := range map[string]int{"small": 2000, "large": 200_000} {
		texts := sentences(1, size, 50_000)
		m, _ := estimated(b, texts[:size*3/4], Options{Order: 4})
		words, others := asked(m, texts[size*3/4:])
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.ReportMetric(float64(m.Bytes()), "model-bytes")
			sum, at, i := 0.0, m.Begin(), 0
			for b.Loop() {
				other, _ := m.Score(at, others[i])
				nats, next := m.Score(at, words[i])
				sum += nats + other
				if at = next; words[i] == End {
					at = m.Begin()
				}
				if i++; i == len(words) {
					i = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/score")
		})
	}
}

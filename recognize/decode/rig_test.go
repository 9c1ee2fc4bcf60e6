package decode

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"konkanitrain/internal/testkit"
)

// random is frames of a network that is as sure as scale says.
func random(r *rand.Rand, t, v int, scale float64) (f Frames) {
	logits := make([]float32, t*v)
	for i := range logits {
		logits[i] = float32(scale * r.NormFloat64())
	}
	f.Set(logits, v)
	return f
}

// peaky is frames as a trained network's: blanks mostly, and tokens in single frames, of which it is mostly sure.
func peaky(r *rand.Rand, t, v int) (f Frames) {
	logits := make([]float32, t*v)
	for at := 0; at < len(logits); at += v {
		for i := range v {
			logits[at+i] = float32(r.NormFloat64())
		}
		sure := 3 + 7*r.Float32()
		if r.IntN(4) == 0 {
			logits[at+1+r.IntN(v-1)] += sure
			logits[at+1+r.IntN(v-1)] += sure * r.Float32()
		} else {
			logits[at] += sure
		}
	}
	f.Set(logits, v)
	return f
}

func vocabulary(t testing.TB, texts ...string) *Vocabulary {
	t.Helper()
	v, err := NewVocabulary(texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// letters is a vocabulary of the blank, a space and v-2 single characters.
func letters(t testing.TB, v int) *Vocabulary {
	texts := []string{"<blank>", " "}
	for i := range v - 2 {
		texts = append(texts, string(rune('a'+i)))
	}
	return vocabulary(t, texts...)
}

func mustBeam(t testing.TB, v *Vocabulary, o BeamOptions) *Beam {
	t.Helper()
	b, err := NewBeam(v, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// chance is a language model whose probabilities are made of hashes of the last two units and the next one. It doesn't
// know some.
type chance struct{ seed uint64 }

func (c chance) hash(xs ...uint64) uint64 {
	h := fnv.New64a()
	for _, x := range append(xs, c.seed) {
		for range 8 {
			h.Write([]byte{byte(x)})
			x >>= 8
		}
	}
	return h.Sum64()
}

func (c chance) ID(unit []byte) (int32, bool) {
	h := fnv.New32a()
	h.Write(unit)
	id := int32(h.Sum32() >> 2)
	return id, c.hash(uint64(id))%3 > 0
}

func (c chance) Begin() State { return 1 << 32 }

func (c chance) Score(from State, id int32) (float64, State) {
	return -float64(c.hash(uint64(from), uint64(id))%1000)/250 - 0.1, from<<32 | State(uint32(id))
}

func (c chance) End(from State) float64 { return -float64(c.hash(uint64(from), 7)%1000) / 500 }

// strict is a model that has to be asked to prepare states before it is asked of them.
type strict struct {
	chance
	t        testing.TB
	prepared map[State]bool
}

func (s *strict) Prepare(states []State) {
	for _, x := range states {
		s.prepared[x] = true
	}
}

func (s *strict) check(x State) {
	if !s.prepared[x] {
		s.t.Errorf("the decoder was not asked to prepare the state %x", x)
	}
}

func (s *strict) Score(from State, id int32) (float64, State) {
	s.check(from)
	return s.chance.Score(from, id)
}

func (s *strict) End(from State) float64 {
	s.check(from)
	return s.chance.End(from)
}

// ofDecoder is what the decoder says of tokens, said in one go.
func ofDecoder(f *Fusion, tokens []int32) (p Part) {
	m := f.Model.(*strict).chance
	at := m.Begin()
	for _, id := range tokens {
		nats, to := m.Score(at, id)
		p.LogProb += nats
		p.Units++
		at = to
	}
	p.LogProb += m.End(at)
	return p
}

// part is what a model says of units, said in one go.
func part(m LanguageModel, units []string) (p Part) {
	at := m.Begin()
	for _, u := range units {
		id, known := m.ID([]byte(u))
		nats, to := m.Score(at, id)
		p.LogProb += nats
		p.Units++
		if !known {
			p.Unknown++
		}
		at = to
	}
	p.LogProb += m.End(at)
	return p
}

// written is what tokens write, with single spaces between words.
func written(v *Vocabulary, tokens []int32) (text string, words []string) {
	for _, id := range tokens {
		text += v.piece(id).text
	}
	words = strings.Fields(text)
	return strings.Join(words, " "), words
}

// whole scores a labelling from its text, as the documentation has it.
func whole(o BeamOptions, v *Vocabulary, list []Hotword, tokens []int32, ctc float64) Hypothesis {
	text, words := written(v, tokens)
	h := Hypothesis{Tokens: tokens, CTC: ctc, Score: ctc}
	if o.Words != nil {
		h.Words = part(o.Words.Model, words)
		h.Score += o.Words.Weight*h.Words.LogProb + o.Words.Bonus*float64(h.Words.Units) + o.Words.Unknown*float64(h.Words.Unknown)
	}
	if o.Tokens != nil {
		h.Parts.Tokens = part(o.Tokens.Model, unitsOf(o, v, tokens))
		h.Score += o.Tokens.Weight*h.Parts.Tokens.LogProb + o.Tokens.Bonus*float64(h.Parts.Tokens.Units) + o.Tokens.Unknown*float64(h.Parts.Tokens.Unknown)
	}
	if o.Decoder != nil {
		h.Decoder = ofDecoder(o.Decoder, tokens)
		h.Score += o.Decoder.Weight*h.Decoder.LogProb + o.Decoder.Bonus*float64(h.Decoder.Units)
	}
	for _, w := range list {
		if o.Hotwords == nil {
			break
		}
		h.Hotwords += w.Boost * float64(len([]rune(w.Phrase))) * float64(found(w, text))
	}
	h.Score += h.Hotwords
	return h
}

// unitsOf is what tokens are for the model of tokens.
func unitsOf(o BeamOptions, v *Vocabulary, tokens []int32) (units []string) {
	for _, id := range tokens {
		s := strings.ReplaceAll(v.piece(id).text, " ", Space)
		if o.Characters {
			units = append(units, strings.Split(s, "")...)
		} else {
			units = append(units, s)
		}
	}
	return units
}

// found counts the places where a phrase stands in a text.
func found(w Hotword, text string) (n int) {
	text = " " + text + " "
	phrase := " " + w.Phrase
	if !w.AnyEnding {
		phrase += " "
	}
	for i := range text {
		if strings.HasPrefix(text[i:], phrase) {
			n++
		}
	}
	return n
}

// paths calls f for each of the V^T paths with its log-probability.
func paths(f Frames, call func(path []int32, p float64)) {
	path := make([]int32, f.T())
	var from func(t int, p float64)
	from = func(t int, p float64) {
		if t == len(path) {
			call(path, p)
			return
		}
		for id, x := range f.Row(t) {
			path[t] = int32(id)
			from(t+1, p+float64(x))
		}
	}
	from(0, 0)
}

// collapse is the labelling of a path, by the definition.
func collapse(path []int32) (tokens []int32) {
	for i, id := range path {
		if id != 0 && (i == 0 || id != path[i-1]) {
			tokens = append(tokens, id)
		}
	}
	return tokens
}

// labellings are all that frames can be, with their log-probabilities.
func labellings(f Frames) (list [][]int32, logProbs []float64) {
	sums, tokens := map[string]float64{}, map[string][]int32{}
	paths(f, func(path []int32, p float64) {
		labelling := collapse(path)
		var key strings.Builder
		for _, id := range labelling {
			key.WriteByte(byte(id))
		}
		sums[key.String()] += math.Exp(p)
		tokens[key.String()] = labelling
	})
	for key, sum := range sums {
		list, logProbs = append(list, tokens[key]), append(logProbs, math.Log(sum))
	}
	return list, logProbs
}

// byScore scores labellings, the best first.
func byScore(o BeamOptions, v *Vocabulary, list []Hotword, tokens [][]int32, logProbs []float64) (all []Hypothesis) {
	for i := range tokens {
		all = append(all, whole(o, v, list, tokens[i], logProbs[i]))
	}
	slices.SortFunc(all, func(a, b Hypothesis) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.Tokens, b.Tokens))
	})
	return all
}

// roundoff bounds the difference of sums of a few thousand terms in float64, in nats.
const roundoff = 1e-9

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= roundoff }

func rng(seed uint64) *rand.Rand { return testkit.Rand(seed) }

// holds is what a beam's scratch has, in bytes.
func (b *Beam) holds() int64 {
	n := cap(b.tree.nodes)*int(unsafe.Sizeof(node{})) + (cap(b.now)+cap(b.next))*int(unsafe.Sizeof(entry{})) +
		cap(b.kept.items)*int(unsafe.Sizeof(candidate{})) + (cap(b.tokens.sorted)+cap(b.tokens.rest))*int(unsafe.Sizeof(choice{})) + cap(b.word) + 4*cap(b.path) + cap(b.stands) + 8*cap(b.states) +
		cap(b.out)*int(unsafe.Sizeof(Hypothesis{})) + 4*cap(b.buf)
	return int64(n)
}

package ngram

import "math"

// Scored is how likely texts are, added up over sentences.
type Scored struct {
	Sentences int     `json:"sentences"`
	Words     int     `json:"words"`   // without </s>
	Unknown   int     `json:"unknown"` // of these, outside the vocabulary
	Nats      float64 `json:"nats"`    // natural logarithm of the probability of all words and each </s>
	// UnknownNats is the part of Nats that is for unknown words.
	UnknownNats float64 `json:"unknown_nats"`
}

// Sentence scores a text with single spaces as one sentence. Words that are written as <s>, </s> or <unk> are unknown.
func (m *Model) Sentence(text string, unit Unit) Scored {
	s, at := Scored{Sentences: 1}, m.Begin()
	for part := range unit.Split(text) {
		w, _ := m.vocabulary.ID(part)
		if w < Word(len(marks)) { // what is written as <s> is no start
			w = Unknown
		}
		nats, next := m.Score(at, w)
		at = next
		s.Words++
		s.Nats += nats
		if w == Unknown {
			s.Unknown++
			s.UnknownNats += nats
		}
	}
	s.Nats += m.End(at)
	return s
}

// Add adds other sentences.
func (s *Scored) Add(o Scored) {
	s.Sentences += o.Sentences
	s.Words += o.Words
	s.Unknown += o.Unknown
	s.Nats += o.Nats
	s.UnknownNats += o.UnknownNats
}

// Log10 is the probability as kenlm and SRILM write it.
func (s Scored) Log10() float64 { return s.Nats / math.Ln10 }

// Perplexity is exp(-Nats / n) where n counts words and the ends of sentences: of how many equally likely words each
// would be one. NaN where there is no sentence.
func (s Scored) Perplexity() float64 { return perplexity(s.Nats, s.Words+s.Sentences) }

// KnownPerplexity is the perplexity of what is in the vocabulary, behind what was there.
func (s Scored) KnownPerplexity() float64 {
	return perplexity(s.Nats-s.UnknownNats, s.Words-s.Unknown+s.Sentences)
}

// UnknownShare is the share of the words that is outside the vocabulary, 0 of no words.
func (s Scored) UnknownShare() float64 { return float64(s.Unknown) / float64(max(1, s.Words)) }

func perplexity(nats float64, n int) float64 { return math.Exp(-nats / float64(n)) }

package decode

import "slices"

// Decoder finds the likeliest labellings of an utterance. One goroutine uses a decoder at a time.
type Decoder interface {
	// Decode returns at most max hypotheses, and at least one, the best first. They are valid until the next call.
	// Equal scores have the order of their tokens' ids.
	Decode(f Frames, max int) []Hypothesis
	// Bytes is the most memory that decoding so many frames into max hypotheses makes the decoder hold.
	Bytes(frames, max int) int64
}

// Hypothesis is a labelling and what speaks for it.
type Hypothesis struct {
	Tokens []int32 // ids, without blanks
	Score  float64 // what hypotheses are ordered by, in nats: CTC, and of Parts what the decoder's weights make of them
	// CTC is the log-probability of the labelling: of those of its paths that were followed, so that it may be less
	// than [Aligner.LogProb] says; of one path alone for Greedy.
	CTC float64
	Parts
	// Spans are the frames of each token, where the decoder knows them: Greedy does. An Aligner knows them always.
	Spans []Span
}

// Parts are what language models and hotwords say of a hypothesis, before any weight; weights other than the decoder's
// would put hypotheses into another order. What the decoder hasn't asked is 0.
type Parts struct {
	Words, Tokens Part
	Decoder       Part    // of the network's decoder, by tokens
	Hotwords      float64 // nats
}

// Part is what a language model says of a hypothesis.
type Part struct {
	LogProb float64 // of its units and, after them, of the end of the sentence, in nats
	Units   int     // words that have ended, or tokens, or characters
	Unknown int     // of these, those that the model doesn't know
}

// Clone is a copy that stays valid.
func (h Hypothesis) Clone() Hypothesis {
	h.Tokens, h.Spans = slices.Clone(h.Tokens), slices.Clone(h.Spans)
	return h
}

// Span are the frames of one token: from Start up to, and without, End.
type Span struct {
	Start, End int32
	LogProb    float64 // of the token in these frames, summed, in nats
}

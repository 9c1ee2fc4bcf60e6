package recognize

import (
	"errors"
	"math"
	"slices"
	"strings"

	"konkanitrain/data/text"
	"konkanitrain/model"
	"konkanitrain/recognize/decode"
	"konkanitrain/recognize/transcript"
	"konkanitrain/update"
)

// frameShift is the seconds between feature frames.
const frameShift = 0.01

// script is how a model's texts are written, and how they are found: what the readers of all workers share.
type script struct {
	Decoding
	tokenizer text.Tokenizer
	policy    text.Policy
	net       model.Config
	size      int     // V
	frame     float64 // seconds of an encoder frame
	fusion    *fusion // nil: the likeliest tokens' texts alone are wanted
}

// reader reads texts out of what the network says of utterances, one at a time. Its memory grows to the longest of them
// and is used again: a frame allocates nothing.
type reader struct {
	*script
	greedy  *decode.Greedy
	frames  decode.Frames
	decoder decode.Decoder // nil: greedy
	speller *speller       // nil: the network's decoder isn't asked
	aligner *decode.Aligner
	scores  []float64 // confidences
}

// heard is what was read out of one utterance.
type heard struct {
	transcript.Segment       // without times of its own
	blanks, frames     int   // frames where the blank is the likeliest, and all
	numbers            error // errNoNumbers: the text says nothing
	err                error // there is no text
}

// errNoNumbers is what a network says that has overflowed. A score counts it as it is, an error in each word; a text
// for people must not be made of it.
var errNoNumbers = errors.New("what the network makes of this sound is no numbers: its weights are too large, as after a training that went wrong")

// numbers is errNoNumbers if one of the logits isn't finite.
func numbers(logits []float32) error {
	for _, x := range logits {
		if x-x != 0 {
			return errNoNumbers
		}
	}
	return nil
}

func newReader(s *script) (*reader, error) {
	r := &reader{script: s, greedy: decode.NewGreedy(text.Blank), aligner: decode.NewAligner(text.Blank)}
	if s.Decoding.greedy() {
		return r, nil
	}
	o := s.fusion.beam(s.Decoding)
	if s.asksDecoder() {
		r.speller = newSpeller(s.net)
	}
	if s.Decoder == Joint && s.AttentionWeight > 0 {
		o.Decoder = &decode.Fusion{Model: r.speller, Weight: s.AttentionWeight}
	}
	beam, err := decode.NewBeam(s.fusion.vocabulary, o)
	r.decoder = beam
	return r, err
}

// Bytes is the most that an utterance of so many encoder frames makes the reader hold.
func (r *reader) Bytes(frames int) int64 {
	sum := r.greedy.Bytes(frames, 1)
	if r.decoder != nil {
		sum += r.decoder.Bytes(frames, r.width())
	}
	if r.speller != nil {
		sum += r.speller.Bytes(frames, r.width())
	}
	if r.decoder != nil || r.Units {
		sum += 4 * int64(frames) * int64(r.size)
	}
	if r.Units {
		sum += r.aligner.Bytes(frames, frames)
	}
	return sum
}

// read is what the logits [S, V] of an utterance say.
func (r *reader) read(logits []float32) heard {
	best := r.greedy.Decode(decode.Frames{LogProbs: logits, V: r.size}, 1) // of logits it takes the same tokens
	blanks := len(logits) / r.size
	for _, s := range best[0].Spans {
		blanks -= int(s.End - s.Start)
	}
	if r.decoder != nil || r.Units {
		r.frames.Set(logits, r.size)
	}
	if r.decoder != nil {
		best = r.decoder.Decode(r.frames, r.width())
	}
	if r.Decoder == Rescore && r.AttentionWeight > 0 {
		r.speller.rescore(best, r.AttentionWeight)
	}
	out := r.tell(best)
	out.blanks, out.frames, out.numbers = blanks, len(logits)/r.size, numbers(logits)
	return out
}

// search is read of what was kept of an utterance; step makes the decoder's steps.
func (r *reader) search(u *listened, step func(*update.Step) error) heard {
	if r.speller == nil {
		return r.read(u.logits)
	}
	r.speller.begins(u, step)
	out := r.read(u.logits)
	out.err = r.speller.err
	return out
}

// tell is what the best hypotheses for the frames at hand say.
func (r *reader) tell(best []decode.Hypothesis) (out heard) {
	out.Text = r.write(best[0].Tokens)
	if r.NBest > 0 {
		out.Alternatives = r.alternatives(best)
	}
	if r.Units {
		out.Words, out.Characters = r.units(best[0])
		if len(best) > 1 {
			r.posteriors(best, out.Words, out.Characters)
		}
		r.calibrate(out.Words)
		r.calibrate(out.Characters)
	}
	return out
}

// calibrate makes probabilities of confidences.
func (r *reader) calibrate(units []transcript.Unit) {
	if r.Calibration == nil {
		return
	}
	for i := range units {
		units[i].Confidence = r.Calibration.Apply(units[i].Confidence)
	}
}

// write is the text of tokens.
func (r *reader) write(tokens []int32) string { return r.policy.Normalize(r.tokenizer.Decode(tokens)) }

// alternatives are the best hypotheses whose texts differ.
func (r *reader) alternatives(best []decode.Hypothesis) (list []transcript.Alternative) {
	for _, h := range best {
		if len(list) == r.NBest {
			break
		}
		s := r.write(h.Tokens)
		if !slices.ContainsFunc(list, func(a transcript.Alternative) bool { return a.Text == s }) {
			list = append(list, transcript.Alternative{Text: s, Score: h.Score})
		}
	}
	return list
}

// units are the words and characters of a hypothesis, with the network's confidence. A hypothesis fits into its frames,
// so it has an alignment.
func (r *reader) units(h decode.Hypothesis) (words, characters []transcript.Unit) {
	a, err := r.aligner.Align(r.frames, h.Tokens)
	if err != nil {
		return nil, nil
	}
	r.scores = confidence.Tokens(r.scores[:0], r.frames, a.Spans)
	words, characters = r.timed(r.fusion.vocabulary.Texts(h.Tokens), a.Spans)
	// The policy may write a word in another way, and then there is no telling which characters it has changed.
	rename(words, r.write(h.Tokens))
	return words, characters
}

// align says where in an utterance with these logits [S, V] a text was said. The confidence of a word or character is
// the probability of its least likely token, the geometric mean over the token's frames.
func (r *reader) align(logits []float32, said string) heard {
	if err := numbers(logits); err != nil {
		return heard{err: err}
	}
	r.frames.Set(logits, r.size)
	out := heard{frames: r.frames.T()}
	tokens := r.tokenizer.Encode(said, nil)
	a, err := r.aligner.Align(r.frames, tokens)
	if err != nil {
		out.err = err
		return out
	}
	out.Text = said
	r.scores = r.scores[:0]
	for _, s := range a.Spans {
		r.scores = append(r.scores, math.Exp(s.LogProb/float64(s.End-s.Start)))
	}
	out.Words, out.Characters = r.timed(r.tokenizer.Parts(said), a.Spans) // with what no token writes
	rename(out.Words, said)
	return out
}

// timed are the words and characters of texts, one of each token, whose confidences are r.scores.
func (r *reader) timed(texts []string, spans []decode.Span) (words, characters []transcript.Unit) {
	ofTokens := r.scores
	list := func(units []decode.Unit) []transcript.Unit {
		r.scores = confidence.Units(r.scores, ofTokens, units)
		scores := r.scores[len(r.scores)-len(units):]
		out := make([]transcript.Unit, len(units))
		for i, u := range units {
			out[i] = transcript.Unit{Text: u.Text, Start: u.Start, End: u.End, Confidence: scores[i]}
		}
		return out
	}
	w, c := decode.Units(texts, spans, r.frame)
	return list(w), list(c)
}

// rename writes words as they are in s, where it has as many.
func rename(words []transcript.Unit, s string) {
	if own := strings.Fields(s); len(own) == len(words) {
		for i := range words {
			words[i].Text = own[i]
		}
	}
}

// confidence is how that of a word is measured. Of the measures that there are, these told right words from wrong ones
// best on sentences that were decoded greedily.
var confidence = decode.Confidence{Alpha: 0.5, Aggregate: decode.Mean}

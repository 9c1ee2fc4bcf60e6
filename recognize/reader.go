package recognize

import (
	"slices"
	"strings"

	"konkanitrain/data/text"
	"konkanitrain/recognize/decode"
	"konkanitrain/recognize/transcript"
)

// frameShift is the seconds between feature frames.
const frameShift = 0.01

// script is how a model's texts are written, and how they are found: what the readers of all workers share.
type script struct {
	Decoding
	tokenizer text.Tokenizer
	policy    text.Policy
	size      int     // V, of the network
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
	aligner *decode.Aligner
	scores  []float64 // confidences
}

// heard is what was read out of one utterance.
type heard struct {
	transcript.Segment     // without times of its own
	blanks, frames     int // frames where the blank is the likeliest, and all
}

func newReader(s *script) (*reader, error) {
	r := &reader{script: s, greedy: decode.NewGreedy(text.Blank), aligner: decode.NewAligner(text.Blank)}
	if s.Decoding.greedy() {
		return r, nil
	}
	f := s.fusion
	beam, err := decode.NewBeam(f.vocabulary, decode.BeamOptions{
		Width: s.width(), Margin: beamMargin, Words: f.words, Tokens: f.tokens, Characters: f.characters, Hotwords: f.hotwords,
	})
	r.decoder = beam
	return r, err
}

// Bytes is the most that an utterance of so many encoder frames makes the reader hold.
func (r *reader) Bytes(frames int) int64 {
	sum := r.greedy.Bytes(frames, 1)
	if r.decoder != nil {
		sum += r.decoder.Bytes(frames, r.width())
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
	out := heard{frames: len(logits) / r.size}
	out.blanks = out.frames
	for _, s := range best[0].Spans {
		out.blanks -= int(s.End - s.Start)
	}
	if r.decoder != nil || r.Units {
		r.frames.Set(logits, r.size)
	}
	if r.decoder != nil {
		best = r.decoder.Decode(r.frames, r.width())
	}
	out.Text = r.write(best[0].Tokens)
	if r.NBest > 0 {
		out.Alternatives = r.alternatives(best)
	}
	if r.Units {
		out.Words, out.Characters = r.units(best[0])
	}
	return out
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

// units are the words and characters of a hypothesis. A hypothesis is as long as its frames allow, so it has an
// alignment.
func (r *reader) units(h decode.Hypothesis) (words, characters []transcript.Unit) {
	words, characters, _ = r.align(h.Tokens)
	return words, characters
}

// align says where in the frames at hand tokens were said.
func (r *reader) align(tokens []int32) (words, characters []transcript.Unit, err error) {
	a, err := r.aligner.Align(r.frames, tokens)
	if err != nil {
		return nil, nil, err
	}
	r.scores = confidence.Tokens(r.scores[:0], r.frames, a.Spans)
	ofTokens := r.scores
	list := func(units []decode.Unit) (out []transcript.Unit) {
		r.scores = confidence.Units(r.scores, ofTokens, units)
		for i, u := range units {
			c := r.scores[len(r.scores)-len(units)+i]
			if r.Calibration != nil {
				c = r.Calibration.Apply(c)
			}
			out = append(out, transcript.Unit{Text: u.Text, Start: u.Start, End: u.End, Confidence: c})
		}
		return out
	}
	v := r.fusion.vocabulary
	words, characters = list(v.Words(tokens, a.Spans, r.frame)), list(v.Characters(tokens, a.Spans, r.frame))
	// The policy may write a word in another way, and then there is no telling which characters it has changed.
	if own := strings.Fields(r.write(tokens)); len(own) == len(words) {
		for i := range words {
			words[i].Text = own[i]
		}
	}
	return words, characters, nil
}

// confidence is how a word's is measured: by the least sure of its frames.
var confidence = decode.Confidence{Alpha: 1.0 / 3, Exponential: true, Aggregate: decode.Least}

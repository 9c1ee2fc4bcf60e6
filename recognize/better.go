package recognize

import (
	"math"

	"konkanitrain/data/text"
)

// Measure is what makes one evaluation better than another.
type Measure string

// The measures. Where what decides is equal, the other two do: words before characters before the loss.
const (
	ByAuto Measure = "auto" // words; characters while the word error rate is 90 % or more
	ByWER  Measure = "wer"
	ByCER  Measure = "cer"
	ByLoss Measure = "loss"
)

// fewWords is the word error rate from which on characters decide for ByAuto. A model that learns gets letters right
// long before whole words, and at first one word more or less is chance.
const fewWords = 0.9

// Better says whether e beats other, which may be nil. Any finite loss beats one that isn't. Files that could not be
// read count as if nothing in them had been recognized, so that the few that were left when a disk went away make no
// best score.
//
// For ByAuto every evaluation with a word error rate below 90 % beats every one with 90 % or more. Among the former
// words decide, among the latter characters: so the order is one of all evaluations, whichever two are compared.
func (e *Evaluation) Better(other *Evaluation, by Measure) bool {
	if other == nil {
		return true
	}
	a, b := e.rank(by), other.rank(by)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// Gain is how much better e is than other in what decides: points of percent of an error rate, or nats. It is infinite
// where other is nil, or where for ByAuto one is below a word error rate of 90 % and one isn't.
func (e *Evaluation) Gain(other *Evaluation, by Measure) float64 {
	if other == nil {
		return math.Inf(1)
	}
	a, b := e.rank(by), other.rank(by)
	switch gain := b[1] - a[1]; {
	case a[0] != b[0]:
		return math.Inf(int(b[0] - a[0]))
	case math.IsNaN(gain): // neither loss is finite
		return 0
	case by == ByLoss:
		return gain
	default:
		return 100 * gain
	}
}

// rank is what evaluations are compared by, the lower the better, the most important number first: the part of the
// order, what decides there, and what decides between equals.
func (e *Evaluation) rank(by Measure) [4]float64 {
	wer, cer, loss := e.WER, e.CER, float64(e.Loss)
	if e.Failed > 0 {
		w, c := e.Score.Words, e.Score.Chars
		w.Add(text.Counts{Del: e.FailedWords, Ref: e.FailedWords})
		c.Add(text.Counts{Del: e.FailedChars, Ref: e.FailedChars})
		wer, cer = w.Rate(), c.Rate()
		loss *= 1 + float64(e.Failed)/float64(e.Score.Utterances) // each costs an utterance's loss more
	}
	if !finite(loss) {
		loss = math.Inf(1)
	}
	switch {
	case by == ByLoss:
		return [4]float64{0, loss, wer, cer}
	case by == ByCER:
		return [4]float64{0, cer, wer, loss}
	case by == ByAuto && wer >= fewWords:
		return [4]float64{1, cer, wer, loss}
	}
	return [4]float64{0, wer, cer, loss}
}

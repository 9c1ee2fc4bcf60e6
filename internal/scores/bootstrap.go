package scores

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"konkanitrain/internal/philox"
)

// Level is the confidence level of all intervals.
const Level = 0.95

// Interval is a confidence interval of an error rate, or of a difference of two.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Sampling says how intervals and tests draw.
type Sampling struct {
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
}

// Sites of the draws.
const (
	siteResample = 1 + iota
	siteSwap
)

// tally is the errors of an utterance and the tokens of its reference, or sums of these.
type tally struct{ errors, ref int64 }

// rate is as text.Counts has it.
func (t tally) rate() float64 { return float64(t.errors) / float64(max(t.ref, 1)) }

func (t *tally) add(o tally) {
	t.errors += o.errors
	t.ref += o.ref
}

// outcome is the errors of words and of characters of an utterance. A set has very many.
type outcome struct{ words, chars small }

// small is a tally of one utterance.
type small struct{ errors, ref int32 }

func (s small) tally() tally { return tally{int64(s.errors), int64(s.ref)} }

func outcomeOf(u *Utterance) outcome {
	return outcome{small{int32(u.Words.Errors()), int32(u.Words.Ref)}, small{int32(u.Chars.Errors()), int32(u.Chars.Ref)}}
}

// Intervals are those of both error rates.
type Intervals struct {
	WER Interval `json:"wer"`
	CER Interval `json:"cer"`
}

// intervals estimates how far the rates of a set may be from those of all speech of its kind: by the bootstrap (Bisani
// and Ney, "Bootstrap estimates for confidence intervals in ASR performance evaluation", ICASSP 2004, section 2). As
// many utterances as there are get drawn with replacement, many times, and the middle 95 % of the rates so found are
// the interval (Efron's percentiles). Utterances are drawn as wholes, since errors in one depend on each other; where
// those of a speaker do too, the true interval is wider. nil for fewer than two utterances.
func (s Sampling) intervals(list []outcome) *Intervals {
	if len(list) < 2 || s.Resamples < 1 {
		return nil
	}
	wer, cer := make([]float64, s.Resamples), make([]float64, s.Resamples)
	s.each(func(k int) {
		var words, chars tally
		s.draw(k, len(list), func(i int) {
			words.add(list[i].words.tally())
			chars.add(list[i].chars.tally())
		})
		wer[k], cer[k] = words.rate(), chars.rate()
	})
	return &Intervals{middle(wer), middle(cer)}
}

// each does something for every resample, on all cores.
func (s Sampling) each(do func(k int)) {
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for k := w; k < s.Resamples; k += workers {
				do(k)
			}
		})
	}
	wait.Wait()
}

// draw draws the utterances of resample k, n of n, n below 2^32, as philox.Stream's IntN does, but from half as many
// bits.
func (s Sampling) draw(k, n int, use func(i int)) {
	stream := philox.NewStream(philox.Key(s.Seed, uint64(k)), siteResample)
	size := uint64(n)
	tooFew := uint64(-uint32(n) % uint32(n)) // draws that would favor some
	for range n {
		x := uint64(stream.Uint32()) * size
		for uint64(uint32(x)) < tooFew {
			x = uint64(stream.Uint32()) * size
		}
		use(int(x >> 32))
	}
}

// middle is the interval of the middle values: on each side it leaves half of 1 - Level of them out, or one less than
// that where it is no whole number of values.
func middle(values []float64) Interval {
	slices.Sort(values)
	out := int((1 - Level) / 2 * float64(len(values)))
	return Interval{values[out], values[len(values)-1-out]}
}

// Comparison is how two models do on the same utterances.
type Comparison struct {
	Utterances int      `json:"utterances"`        // that both could score
	This       Rates    `json:"this"`              // of these utterances
	Other      Rates    `json:"other"`             // of these utterances
	Words      Contrast `json:"words"`             // of word error rates
	Chars      Contrast `json:"chars"`             // of character error rates
	Unlike     int      `json:"unlike_references"` // utterances whose reference the models' rules for texts write differently
	OnlyThis   int      `json:"only_this"`         // utterances that the other model could not score
	OnlyOther  int      `json:"only_other"`        // utterances that this model could not score
	Sampling   Sampling `json:"sampling"`
}

// Rates are both error rates.
type Rates struct {
	WER float64 `json:"wer"`
	CER float64 `json:"cer"`
}

// Contrast is the difference of an error rate between two models.
type Contrast struct {
	Difference float64   `json:"difference"`         // this minus the other: below 0 this one is better
	Interval   *Interval `json:"interval,omitempty"` // of the difference
	Better     float64   `json:"share_better"`       // of the resamples, where this one was better: the probability of improvement
	P          float64   `json:"p"`                  // of a difference at least as large, were the models alike
	Fewer      int       `json:"fewer"`              // utterances in which this one makes fewer errors than the other
	More       int       `json:"more"`               // in which it makes more
}

// compare compares outcomes, utterance by utterance. The difference's interval and the probability of an improvement
// come from resamples of pairs (Bisani and Ney 2004, section 3). p is that of a two-sided matched pairs test, by
// approximate randomization (Noreen, "Computer-intensive methods for testing hypotheses", 1989): were the models alike,
// the results of each utterance might as well be the other's, so in each trial a coin says for every utterance whether
// they change sides; p is the share of trials, the one that was seen included, with a difference at least as large.
// (Gillick and Cox, ICASSP 1989, compare the same pairs by the normal distribution, which needs many.)
func (s Sampling) compare(this, other []outcome, c *Comparison) {
	words := func(o *outcome) tally { return o.words.tally() }
	chars := func(o *outcome) tally { return o.chars.tally() }
	c.Utterances, c.Sampling = len(this), s
	c.Words, c.This.WER, c.Other.WER = s.contrast(this, other, words)
	c.Chars, c.This.CER, c.Other.CER = s.contrast(this, other, chars)
}

// contrast compares what part finds in an outcome, and says the rates too.
func (s Sampling) contrast(this, other []outcome, part func(*outcome) tally) (c Contrast, here, there float64) {
	var a, b tally
	for i := range this {
		x, y := part(&this[i]), part(&other[i])
		a.add(x)
		b.add(y)
		if x.errors < y.errors {
			c.Fewer++
		} else if x.errors > y.errors {
			c.More++
		}
	}
	here, there = a.rate(), b.rate()
	c.Difference, c.P = here-there, 1
	if s.Resamples < 1 || len(this) < 2 {
		return c, here, there
	}
	differences, swaps := make([]float64, s.Resamples), make([]float64, s.Resamples)
	s.each(func(k int) {
		var a, b tally
		s.draw(k, len(this), func(i int) {
			a.add(part(&this[i]))
			b.add(part(&other[i]))
		})
		differences[k], swaps[k] = a.rate()-b.rate(), s.swapped(k, this, other, part)
	})
	better, atLeast := 0, 0
	for k := range differences {
		if differences[k] < 0 {
			better++
		}
		if math.Abs(swaps[k]) >= math.Abs(c.Difference)*(1-rounding) {
			atLeast++
		}
	}
	interval := middle(differences)
	c.Interval, c.Better = &interval, float64(better)/float64(s.Resamples)
	c.P = float64(1+atLeast) / float64(1+s.Resamples)
	return c, here, there
}

// rounding is more than what rounding changes of a rate, as a share.
const rounding = 1e-12

// swapped is the difference in trial k, in which some utterances have changed sides.
func (s Sampling) swapped(k int, this, other []outcome, part func(*outcome) tally) float64 {
	stream := philox.NewStream(philox.Key(s.Seed, uint64(k)), siteSwap)
	var a, b tally
	coins := uint32(0)
	for i := range this {
		if i%32 == 0 {
			coins = stream.Uint32()
		}
		x, y := part(&this[i]), part(&other[i])
		if coins>>(i%32)&1 == 1 {
			x, y = y, x
		}
		a.add(x)
		b.add(y)
	}
	return a.rate() - b.rate()
}

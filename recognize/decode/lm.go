package decode

import (
	"errors"
	"fmt"
	"math"
)

// State is what a language model remembers of the units before: a number of its own, that means the same for as long as
// the model is used.
type State uint64

// LanguageModel gives the probability of each unit, a word or a token, after those before it. Several goroutines may
// ask it at a time; nothing of it may allocate.
type LanguageModel interface {
	// ID is the number of a unit, and whether the model knows it. One that it doesn't know has a number all the same,
	// which Score takes for it.
	ID(unit []byte) (id int32, known bool)
	// Begin is the state before the first unit of a sentence.
	Begin() State
	// Score is the log-probability of a unit, in nats, and the state behind it.
	Score(from State, id int32) (nats float64, to State)
	// End is the log-probability that the sentence ends, in nats.
	End(from State) float64
}

// Preparer is a LanguageModel that computes what follows of several states at a time: a network's decoder. Score and
// End are asked of states only that it was asked to prepare.
type Preparer interface {
	LanguageModel
	// Prepare computes what follows each state. Those that were prepared before cost nothing.
	Prepare(states []State)
}

// Fusion is the share of a language model in the score of a hypothesis (shallow fusion): Weight log P + Bonus n +
// Unknown u, for n units of which the model doesn't know u.
type Fusion struct {
	Model   LanguageModel // nil: there is the bonus alone
	Weight  float64       // of the log-probability, 0 or more
	Bonus   float64       // for each unit, in nats: against what long sentences lose by having many units
	Unknown float64       // for each unit that the model doesn't know, in nats, beside what Weight makes of its log-probability
	Lexicon *Lexicon      // of a model of words: what a word counts until it has ended; nil: nothing
}

// impossible is what a log-probability counts as that is lower, or -Inf: 1e-100, as where tables have -99 or so.
const impossible = -230.0

func (f *Fusion) validate(what string) error {
	switch {
	case f == nil:
		return nil
	case !finite(f.Weight) || !finite(f.Bonus) || !finite(f.Unknown):
		return fmt.Errorf("%s: weight %v, bonus %v, unknown %v: want finite numbers", what, f.Weight, f.Bonus, f.Unknown)
	case f.Weight < 0:
		return fmt.Errorf("%s: the weight is %v: less than 0 would prefer what is unlikely", what, f.Weight)
	case f.Weight > 0 && f.Model == nil:
		return errors.New(what + ": there is a weight, and no model for it")
	case f.Weight == 0 && f.Lexicon != nil:
		return errors.New(what + ": there is a lexicon, and no weight for it")
	case f.Weight == 0 && f.Unknown != 0:
		return fmt.Errorf("%s: %v for what the model doesn't know has no effect: the weight is 0", what, f.Unknown)
	}
	return nil
}

// asks says whether the model takes part.
func (f *Fusion) asks() bool { return f != nil && f.Weight > 0 }

// standing is where a model is behind a prefix, and what it has said so far.
type standing struct {
	Part
	state State
}

func (f *Fusion) begin() (s standing) {
	if f.asks() {
		s.state = f.Model.Begin()
	}
	return s
}

// add goes on by a unit.
func (f *Fusion) add(s *standing, id int32, known bool) {
	if f.asks() {
		nats, to := f.Model.Score(s.state, id)
		s.LogProb += bounded(nats)
		s.state = to
	}
	s.Units++
	if !known {
		s.Unknown++
	}
}

// end goes on by the end of the sentence.
func (f *Fusion) end(s *standing) {
	if f.asks() {
		s.LogProb += bounded(f.Model.End(s.state))
	}
}

// value is what a hypothesis gains by the model.
func (f *Fusion) value(p *Part) float64 {
	if f == nil {
		return 0
	}
	return f.Weight*p.LogProb + f.Bonus*float64(p.Units) + f.Unknown*float64(p.Unknown)
}

// begun is what a word counts that hasn't ended.
func (f *Fusion) begun(letters int32) float64 {
	if f == nil || f.Lexicon == nil {
		return 0
	}
	value := f.Weight*f.Lexicon.best(letters) + f.Bonus
	if letters == strange {
		value += f.Unknown
	}
	return value
}

// mostGain bounds what a token adds that is so many units: tokens or characters, or words that it may end.
func (f *Fusion) mostGain(units int) float64 {
	if f == nil {
		return 0
	}
	gain := float64(units) * max(0, f.Bonus, f.Bonus+f.Unknown)
	if f.Lexicon == nil {
		return gain
	}
	// What a word counts that hasn't ended:
	most := f.Bonus + max(0, f.Unknown)
	least := f.Weight*f.Lexicon.lowest + f.Bonus + min(0, f.Unknown)
	if units == 0 { // one begins, or turns out to be unknown
		return max(0, most, f.begun(strange)-least)
	}
	return gain + max(0, -least) + max(0, most) // one ends, and another begins
}

// bounded is a log-probability between impossible and certain; NaN is impossible.
func bounded(nats float64) float64 {
	if !(nats > impossible) {
		return impossible
	}
	return min(nats, 0)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

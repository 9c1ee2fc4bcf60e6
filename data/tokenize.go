package data

import (
	"fmt"
	"strconv"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/frames"
	"konkanitrain/internal/words"
)

// TokenOptions say what Tokenize checks.
type TokenOptions struct {
	// Factor is the subsampling factor, 2, 4 or 8, for the frames that CTC needs; 0 leaves that unchecked.
	Factor int
	// Speeds are those that training plays the sound at. A text that fits its sound at speed 1 and not at one of them
	// is named: CTC would have nothing to teach at that speed, so a Loader of these speeds draws among the others for
	// it, or takes speed 1 where there is none.
	Speeds []float64
	// DropInfeasible leaves out what CTC can't align. Without a decoder such an utterance has nothing to teach;
	// with one its cross-entropy still does, so it is named and kept.
	DropInfeasible bool
	// UnknownLimit is the share of letters outside the vocabulary, 0 to 1, above which the labels and the
	// vocabulary are taken not to belong together: 0 allows none, 1 any.
	UnknownLimit float64
}

// Tokenize fills the Tokens of every utterance. What CTC can't align is named in the Report, letters outside
// the vocabulary are counted there.
func (s *Set) Tokenize(v text.Tokenizer, o TokenOptions) error {
	if o.Factor != 0 && o.Factor != 2 && o.Factor != 4 && o.Factor != 8 {
		return fmt.Errorf("subsampling factor %d: 2, 4 and 8 are possible", o.Factor)
	}
	r := s.Report
	r.Unknown = text.Unknown{}
	r.forget(CTCTooShort, false)
	r.forget(CTCTooFast, false)
	if s.rows != nil {
		s.rows.tokens = make([]int32, s.Len())
	}
	s.tokenizer = v
	s.fits, s.speeds = map[int]uint64{}, o.Speeds
	kept := 0
	for i := range s.Len() {
		tokens := v.Encode(s.Text(i), &r.Unknown)
		s.setTokens(i, tokens)
		feasible := o.Factor == 0 || frames.Feasible(s.Frames(i), o.Factor, tokens)
		if feasible {
			fits, err := s.checkSpeeds(i, tokens, o)
			if err != nil {
				return err
			}
			if fits != allSpeeds {
				s.fits[kept] = fits
			}
		} else {
			s.noteOn(i, CTCTooShort, o.DropInfeasible, func(u *Utterance) string {
				return fmt.Sprintf("%s: needs %d after subsampling by %d, has %d", u.ID,
					frames.CTCNeed(tokens), o.Factor, frames.Subsampled(u.Frames, o.Factor))
			})
		}
		if feasible || !o.DropInfeasible {
			s.keep(kept, i)
			kept++
		}
	}
	s.cut(kept)
	s.count(r, nil)
	if limit := o.UnknownLimit; r.Unknown.Share() > limit {
		return fmt.Errorf("manifest %s: %v; the limit (unknown_limit) is %.4g %%: do text and vocabulary belong together? "+
			"Correct the text, have these letters in the training texts or in the tokenizer, or raise unknown_limit: then each of them is an error", s.Path, &r.Unknown, 100*limit)
	}
	if kept == 0 {
		advice := "look whether texts and sound belong together"
		if o.Factor > 2 {
			advice = fmt.Sprintf("a lower subsampling factor than %d leaves more frames", o.Factor)
		}
		return fmt.Errorf("no utterance is left that CTC could align; %s\n%v", advice, r)
	}
	return nil
}

// allSpeeds is the set of speeds that an utterance fits which fits all.
const allSpeeds = ^uint64(0)

// checkSpeeds names utterance i if CTC can't align its tokens at some of the speeds, and says which it fits: bit k of
// fits is for speed k, and from the 64th on all are taken to fit.
func (s *Set) checkSpeeds(i int, tokens []int32, o TokenOptions) (fits uint64, err error) {
	fits = allSpeeds
	if o.Factor == 0 {
		return fits, nil
	}
	var tooFast []string
	least := s.Frames(i)
	samples, rate := s.sound(i)
	for k, f := range o.Speeds {
		speed, err := audio.Speed(f)
		if err != nil {
			return 0, fmt.Errorf("speeds: %w", err)
		}
		n, err := feature.Options{SampleRate: s.SampleRate}.Frames(samples, rate, speed)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.ID(i), err)
		}
		if !frames.Feasible(n, o.Factor, tokens) {
			tooFast = append(tooFast, strconv.FormatFloat(f, 'g', -1, 64))
			least = min(least, n)
			fits &^= 1 << k // none from the 64th on
		}
	}
	if len(tooFast) > 0 {
		s.noteOn(i, CTCTooFast, false, func(u *Utterance) string {
			return fmt.Sprintf("%s: needs %d after subsampling by %d, has %d at speed 1, too few at %s (as few as %d)", u.ID,
				frames.CTCNeed(tokens), o.Factor, frames.Subsampled(u.Frames, o.Factor),
				words.List(tooFast, 10), frames.Subsampled(least, o.Factor))
		})
	}
	return fits, nil
}

// noteOn notes something about utterance i in the Report.
func (s *Set) noteOn(i int, kind Kind, skipped bool, reason func(*Utterance) string) {
	if !s.Report.wants(kind, skipped) {
		s.Report.more(kind, skipped, 1)
		return
	}
	u := s.At(i)
	s.Report.Add(Note{kind, u.File, u.Line, u.ID, reason(u), skipped})
}

// setTokens takes the tokens of utterance i; of those of a packed one their number.
func (s *Set) setTokens(i int, tokens []int32) {
	if s.rows == nil {
		s.given[i].Tokens = tokens
		return
	}
	s.rows.tokens[i] = int32(len(tokens))
}

// keep moves utterance i to place k, which isn't behind it.
func (s *Set) keep(k, i int) {
	if s.rows == nil {
		s.given[k] = s.given[i]
		s.given[k].Index = k
		return
	}
	s.rows.keep(k, i)
}

// cut keeps the first n utterances.
func (s *Set) cut(n int) {
	if s.rows == nil {
		s.given = s.given[:n]
		return
	}
	s.rows.cut(n)
}

package data

import (
	"fmt"
	"slices"
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
	// is named, and stays: at that speed CTC has nothing to teach.
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
	r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool { return n.Kind == CTCTooShort && !n.Skipped || n.Kind == CTCTooFast })
	kept := make([]*Utterance, 0, len(s.Utterances))
	for _, u := range s.Utterances {
		u.Tokens = v.Encode(u.Text, &r.Unknown)
		if o.Factor == 0 || frames.Feasible(u.Frames, o.Factor, u.Tokens) {
			kept = append(kept, u)
			if err := s.checkSpeeds(u, o); err != nil {
				return err
			}
			continue
		}
		reason := fmt.Sprintf("%s: needs %d after subsampling by %d, has %d", u.ID,
			frames.CTCNeed(u.Tokens), o.Factor, frames.Subsampled(u.Frames, o.Factor))
		r.Notes = append(r.Notes, Note{CTCTooShort, u.File, u.Line, u.ID, reason, o.DropInfeasible})
		if !o.DropInfeasible {
			kept = append(kept, u)
		}
	}
	s.Utterances = kept
	r.count(kept)
	if limit := o.UnknownLimit; r.Unknown.Share() > limit {
		return fmt.Errorf("manifest %s: %v; the limit (unknown_limit) is %.4g %%: text and vocabulary don't belong together, "+
			"build the vocabulary from this text or correct the text", s.Path, &r.Unknown, 100*limit)
	}
	if len(kept) == 0 {
		advice := "look whether texts and sound belong together"
		if o.Factor > 2 {
			advice = fmt.Sprintf("a lower subsampling factor than %d leaves more frames", o.Factor)
		}
		return fmt.Errorf("no utterance is left that CTC could align; %s\n%v", advice, r)
	}
	return nil
}

// checkSpeeds names u if CTC can't align it at some of the speeds.
func (s *Set) checkSpeeds(u *Utterance, o TokenOptions) error {
	if o.Factor == 0 {
		return nil
	}
	var tooFast []string
	least := u.Frames
	for _, f := range o.Speeds {
		speed, err := audio.Speed(f)
		if err != nil {
			return fmt.Errorf("speeds: %w", err)
		}
		n, err := feature.Options{SampleRate: s.SampleRate}.Frames(u.Samples, u.Rate(), speed)
		if err != nil {
			return fmt.Errorf("%s: %w", u.ID, err)
		}
		if !frames.Feasible(n, o.Factor, u.Tokens) {
			tooFast = append(tooFast, strconv.FormatFloat(f, 'g', -1, 64))
			least = min(least, n)
		}
	}
	if len(tooFast) > 0 {
		reason := fmt.Sprintf("%s: needs %d after subsampling by %d, has %d at speed 1, too few at %s (as few as %d)", u.ID,
			frames.CTCNeed(u.Tokens), o.Factor, frames.Subsampled(u.Frames, o.Factor),
			words.List(tooFast, 10), frames.Subsampled(least, o.Factor))
		s.Report.Notes = append(s.Report.Notes, Note{CTCTooFast, u.File, u.Line, u.ID, reason, false})
	}
	return nil
}

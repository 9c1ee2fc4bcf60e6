package data

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"

	"konkanitrain/data/text"
	"konkanitrain/internal/frames"
)

// Utterance is a recording, or a part of one, with its transcript.
type Utterance struct {
	ID      string  // identity: the id key, or else the audio path as written (and the offset)
	Key     uint64  // philox.ID of ID, for the keys of random draws
	Path    string  // the file
	Offset  float64 // seconds into the file
	Speaker string  // "" where the manifest has none
	File    string  // the manifest, and
	Line    int     // the line that lists the utterance

	Duration float64 // seconds, real
	Samples  int     // of the utterance, per channel, at the file's own rate
	Rate     int     // Hz, of the file
	Frames   int     // T, feature frames at the sample rate of the features and at speed 1

	Text   string  // normalised
	Tokens []int32 // [U], by Tokenise: the characters of Text and nothing else

	length int // samples per channel of the whole file, when the manifest was loaded
}

// Set is the usable part of a manifest, in the manifest's order.
type Set struct {
	Path       string
	Utterances []*Utterance
	Report     *Report
	SampleRate int // Hz, that Frames counts at
}

// Texts yields the normalised texts, for text.Build.
func (s *Set) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, u := range s.Utterances {
			if !yield(u.Text) {
				return
			}
		}
	}
}

// Seconds is the duration of all utterances together.
func (s *Set) Seconds() float64 { return s.Report.Seconds }

// Lengths lists the feature frames T of each utterance, for NewOrder.
func (s *Set) Lengths() []int {
	out := make([]int, len(s.Utterances))
	for i, u := range s.Utterances {
		out[i] = u.Frames
	}
	return out
}

// TokenOptions say what Tokenise checks.
type TokenOptions struct {
	// Factor is the subsampling factor, 2, 4 or 8, for the frames that CTC needs; 0 leaves that unchecked.
	Factor int
	// DropInfeasible leaves out what CTC can't align. Without a decoder such an utterance has nothing to teach;
	// with one its cross-entropy still does, so it is named and kept.
	DropInfeasible bool
	// UnknownLimit is the share of letters outside the vocabulary, 0 to 1, above which the labels and the
	// vocabulary are taken not to belong together: 0 allows none, 1 any.
	UnknownLimit float64
}

// Tokenise fills the Tokens of every utterance. What CTC can't align is named in the Report, letters outside
// the vocabulary are counted there.
func (s *Set) Tokenise(v *text.Vocabulary, o TokenOptions) error {
	if o.Factor != 0 && o.Factor != 2 && o.Factor != 4 && o.Factor != 8 {
		return fmt.Errorf("subsampling factor %d: 2, 4 and 8 are possible", o.Factor)
	}
	r := s.Report
	r.Unknown = text.Unknown{}
	r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool { return n.Kind == CTCTooShort && !n.Skipped })
	kept := make([]*Utterance, 0, len(s.Utterances))
	for _, u := range s.Utterances {
		u.Tokens = v.Encode(u.Text, &r.Unknown)
		if o.Factor == 0 || frames.Feasible(u.Frames, o.Factor, u.Tokens) {
			kept = append(kept, u)
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
		return fmt.Errorf("manifest %s: %v; the limit (unknown_limit) is %.4g %%: text and vocabulary don't belong together, build the vocabulary from this text or correct the text", s.Path, &r.Unknown, 100*limit)
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

// Overlap warns where the sound of a validation set is in the training set as well: one line, "" if none is.
func Overlap(train, val *Set) string {
	type sound struct {
		path   string
		offset float64
	}
	of := func(u *Utterance) sound {
		path := u.Path
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return sound{path, u.Offset}
	}
	seen := make(map[sound]*Utterance, len(train.Utterances))
	for _, u := range train.Utterances {
		seen[of(u)] = u
	}
	var first, trained *Utterance
	n := 0
	for _, u := range val.Utterances {
		if t, ok := seen[of(u)]; ok {
			if n++; n == 1 {
				first, trained = u, t
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d utterances of %s are in %s as well (the first: %s, line %d there and line %d here); scores on them flatter the model, take them out of one list",
		n, len(val.Utterances), val.Path, train.Path, first.ID, trained.Line, first.Line)
}

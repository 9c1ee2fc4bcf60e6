package data

import (
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/data/text"
	"konkanitrain/internal/words"
)

// Kind is the sort of a Note.
type Kind string

// The kinds of notes, in the order in which a Report prints them.
const (
	Broken         Kind = "line can't be read"
	Unmatched      Kind = "in one file of the folder only"
	Missing        Kind = "audio file not found"
	Unreadable     Kind = "audio can't be read"
	Silent         Kind = "no sound in it"
	PastEnd        Kind = "part that ends behind its recording"
	EmptyText      Kind = "empty text"
	TooShort       Kind = "too short"
	TooLong        Kind = "longer than max_duration"
	TextTooLong    Kind = "text longer than max_text_length"
	CTCTooShort    Kind = "too few frames for CTC"
	CTCTooFast     Kind = "too few frames for CTC at some speeds, which are not drawn for it"
	WrongDuration  Kind = "stated duration is wrong, the audio's own is used"
	OtherFile      Kind = "file found under another name"
	RepeatedKey    Kind = "key twice in one line, the last is used"
	AudioWarning   Kind = "audio warning"
	NoMemory       Kind = "no memory for it"
	RepeatedSource Kind = "path listed again without an id"
)

var kinds = []Kind{
	Broken, Unmatched, Missing, Unreadable, Silent, PastEnd, EmptyText, TooShort, TooLong, TextTooLong, CTCTooShort, CTCTooFast,
	WrongDuration, OtherFile, RepeatedKey, AudioWarning, NoMemory, RepeatedSource,
}

// Bad kinds count against Options.BadLimit: the list and the files don't belong together. The others are
// choices and remarks.
func (k Kind) Bad() bool {
	return k == Broken || k == Unmatched || k == Missing || k == Unreadable || k == Silent || k == PastEnd
}

// Note is one thing about one line of a manifest, or about one file of a folder of sound.
type Note struct {
	Kind    Kind
	File    string
	Line    int // as Where has it
	ID      string
	Reason  string
	Skipped bool // false: the utterance is used
}

// String names the utterance, its line and what is said about it, and of which kind that is.
func (n Note) String() string {
	return fmt.Sprintf("%s (%s): %s: %s", n.ID, Where(n.File, n.Line), n.Kind, n.Reason)
}

// Report says what became of every line of a manifest.
type Report struct {
	Path           string
	Lines          int // utterances listed
	Kept           int
	Seconds        float64 // of the utterances kept, as are the next two
	Shortest       float64
	Longest        float64
	StartsWithMark int          // texts kept that start with a combining mark
	Notes          []Note       // lines that are skipped or doubtful, in the order of the checks: the first of each kind
	Changes        text.Changes // what the text policy has changed
	Warnings       []string     // about the manifest as a whole
	Unknown        text.Unknown // letters outside the vocabulary, once Tokenize has run

	SampleRate int           // Hz, that sound is resampled to
	Sounds     map[Sound]int // how many utterances kept have sound of this sort

	tallies map[sort]tally
}

// notesKept is how many notes of a sort are kept as they are; all are counted.
const notesKept = 1000

// sort is what notes are counted by.
type sort struct {
	kind    Kind
	skipped bool
}

// tally is how many notes of a sort Add has kept, and how many only counted.
type tally struct{ kept, more int }

// Add adds a note. Of many of a kind the first are kept, and the others counted.
func (r *Report) Add(n Note) {
	if !r.wants(n.Kind, n.Skipped) {
		r.more(n.Kind, n.Skipped, 1)
		return
	}
	s := sort{n.Kind, n.Skipped}
	t := r.tallies[s]
	t.kept++
	if r.tallies == nil {
		r.tallies = map[sort]tally{}
	}
	r.tallies[s] = t
	r.Notes = append(r.Notes, n)
}

// wants says whether a further note of a sort would be kept.
func (r *Report) wants(kind Kind, skipped bool) bool {
	return r.tallies[sort{kind, skipped}].kept < notesKept
}

// more counts notes that aren't kept.
func (r *Report) more(kind Kind, skipped bool, n int) {
	s := sort{kind, skipped}
	t := r.tallies[s]
	t.more += n
	r.tallies[s] = t
}

// forget removes the notes of a sort.
func (r *Report) forget(kind Kind, skipped bool) {
	r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool { return n.Kind == kind && n.Skipped == skipped })
	delete(r.tallies, sort{kind, skipped})
}

// clone is a Report that can be added to.
func (r *Report) clone() *Report {
	c := *r
	c.Notes, c.tallies = slices.Clip(r.Notes), maps.Clone(r.tallies)
	return &c
}

// Unkept is how many notes of a kind, on lines that are skipped or on lines that are used, are only counted.
func (r *Report) Unkept(kind Kind, skipped bool) int { return r.tallies[sort{kind, skipped}].more }

// Sorts yields the kinds of the notes that there are, of lines that are skipped and of lines that are used, each once,
// in the order in which String prints them.
func (r *Report) Sorts() iter.Seq2[Kind, bool] {
	return func(yield func(Kind, bool) bool) {
		for _, skipped := range []bool{true, false} {
			for _, kind := range kinds {
				if r.CountOf(kind, skipped) > 0 && !yield(kind, skipped) {
					return
				}
			}
		}
	}
}

// Count is the number of notes of a kind, with those that aren't kept.
func (r *Report) Count(kind Kind) int { return r.CountOf(kind, true) + r.CountOf(kind, false) }

// CountOf is the number of notes of a kind on lines that are skipped, or on lines that are used.
func (r *Report) CountOf(kind Kind, skipped bool) int {
	n := r.Unkept(kind, skipped)
	for i := range r.Notes {
		if r.Notes[i].Kind == kind && r.Notes[i].Skipped == skipped {
			n++
		}
	}
	return n
}

// named is how many lines of one kind a summary names.
const named = 8

// String is a summary of a few lines: each kind of note with its count and the first lines it is about.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d utterances used", r.Path, r.Kept, r.Lines)
	if r.Seconds > 0 {
		fmt.Fprintf(&b, ", %s (%.2f to %.2f s each)", words.Duration(r.Seconds), r.Shortest, r.Longest)
	}
	for kind, skipped := range r.Sorts() {
		b.WriteString("\n  " + r.summary(kind, skipped))
	}
	if r.StartsWithMark > 0 {
		verb := "start with a combining mark; they are used as they are"
		if r.StartsWithMark == 1 {
			verb = "starts with a combining mark; it is used as it is"
		}
		fmt.Fprintf(&b, "\n  %s %s", words.Count(r.StartsWithMark, "text"), verb)
	}
	for _, line := range r.Changes.Lines(r.Place) {
		b.WriteString("\n  " + line)
	}
	if r.Unknown.Outside > 0 {
		fmt.Fprintf(&b, "\n  %v", &r.Unknown)
	}
	for _, line := range r.soundLines() {
		b.WriteString("\n  " + line)
	}
	for _, w := range r.Warnings {
		b.WriteString("\n  warning: " + w)
	}
	return b.String()
}

// summary is what the notes of a kind say, of which there are some.
func (r *Report) summary(kind Kind, skipped bool) string {
	var some []string
	count := r.CountOf(kind, skipped)
	for i := 0; i < len(r.Notes) && len(some) < named; i++ {
		if n := &r.Notes[i]; n.Kind == kind && n.Skipped == skipped {
			some = append(some, n.where(r.Path)+": "+n.Reason)
		}
	}
	word := "used"
	if skipped {
		word = "skipped"
	}
	s := fmt.Sprintf("%d %s, %s:", count, word, kind)
	if count == 1 {
		return s + " " + some[0]
	}
	if count > named {
		some = append(some, fmt.Sprintf("and %d more", count-named))
	}
	return s + "\n    " + strings.Join(some, "\n    ")
}

// where is "line 3", or "u1 in text, line 3" for a list in a folder, or "u1.wav" for a sound file of one.
func (n *Note) where(manifest string) string {
	switch {
	case n.Line <= 0:
		return n.ID
	case n.File != manifest:
		return n.ID + " in " + Where(filepath.Base(n.File), n.Line)
	}
	return lineOf(n.File, n.Line)
}

// Place is "line 3", or "text, line 3" for a list in a folder.
func (r *Report) Place(p text.Place) string {
	if p.File != r.Path {
		return Where(filepath.Base(p.File), p.Line)
	}
	return lineOf(p.File, p.Line)
}

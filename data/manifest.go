package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/philox"
	"konkanitrain/internal/words"
)

// Load reads a manifest and the headers of its audio files. What can't be used is in the Report of the Set.
// It is an error if a line can't be parsed (unless SkipBadLines), if an id stands twice, if more lines are bad
// than BadLimit allows, and if nothing is left. Where the context ends first, the error is its cause.
func Load(ctx context.Context, path string, o Options) (*Set, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	o = o.withDefaults()
	l, err := list(path)
	if err != nil {
		return nil, err
	}
	if !o.SkipBadLines {
		if err := brokenLines(l.entries); err != nil {
			return nil, err
		}
	}
	s := &Set{Path: path, SampleRate: o.SampleRate, options: o,
		Report: &Report{Path: path, Lines: len(l.entries), Warnings: l.notes}}
	ids, again, err := s.identities(l.entries)
	if err != nil {
		return nil, err
	}
	for i := range l.entries {
		s.checkText(&l.entries[i], o)
	}
	sounds, err := probe(ctx, l, path, o)
	if err != nil {
		return nil, err
	}
	if err := foundAny(sounds, l.entries, path); err != nil {
		return nil, err
	}
	for i := range l.entries {
		e := &l.entries[i]
		u := &Utterance{ID: ids[i], Key: philox.ID(ids[i]), Speaker: e.speaker, File: e.file, Line: e.line, Text: e.text,
			Offset: e.offset, Duration: e.duration}
		if s.use(u, e, sounds[e.audio], o) {
			s.Utterances = append(s.Utterances, u)
			if again[i] != "" {
				s.Report.note(e, RepeatedSource, u.ID, again[i], false)
			}
		}
	}
	s.Report.count(s.Utterances)
	if err := s.enough(); err != nil {
		return nil, err
	}
	return s, nil
}

// brokenLines names the lines that can't be parsed in one error.
func brokenLines(entries []entry) error {
	var some []string
	n := 0
	for i := range entries {
		if e := &entries[i]; e.kind == Broken {
			if n++; n <= named {
				some = append(some, fmt.Sprintf("%s, line %d: %s", e.file, e.line, e.reason))
			}
		}
	}
	if n == 0 {
		return nil
	}
	more := ""
	if n > named {
		more = fmt.Sprintf("\nand %d more", n-named)
	}
	return fmt.Errorf("manifest %s%s\n%d of %d lines can't be read; correct them, or set skip_bad_lines to leave them out",
		strings.Join(some, "\n"), more, n, len(entries))
}

// checkText normalizes the text of an entry and marks what can't be used, before any file is looked for.
func (s *Set) checkText(e *entry, o Options) {
	if e.kind != "" {
		return
	}
	e.text = s.Report.Changes.Normalize(o.Text, e.text, text.Place{File: e.file, Line: e.line})
	switch n := utf8.RuneCountInString(e.text); {
	case n == 0:
		e.fail(EmptyText, "%s", e.name())
	case o.MaxTextLength > 0 && n > o.MaxTextLength:
		e.fail(TextTooLong, "%s: %s, the limit is %d", e.name(), words.Count(n, "character"), o.MaxTextLength)
	}
}

// name is what a message calls an entry.
func (e *entry) name() string {
	if e.id != "" {
		return e.id
	}
	return e.audio
}

// use fills in what the audio file says and decides whether the utterance is used; if not, or if something is
// doubtful, it leaves a note.
func (s *Set) use(u *Utterance, e *entry, f *sound, o Options) bool {
	skip := func(kind Kind, format string, args ...any) bool {
		s.Report.note(e, kind, u.ID, fmt.Sprintf(format, args...), true)
		return false
	}
	if e.kind != "" {
		return skip(e.kind, "%s", e.reason)
	}
	switch {
	case !f.found:
		return skip(Missing, "%s%s", f.path, tildeHint(e.audio))
	case f.err != nil:
		return skip(Unreadable, "%v", f.err)
	}
	u.Recording = &f.Recording
	if !u.measure(e, f.Info) {
		return skip(Unreadable, "%s: the part starts at %v s, the file has %.3f s", f.path, e.offset, f.Info.Seconds())
	}
	const slack = 0.1 // seconds that an end may be rounded by
	if end := e.offset + e.duration; e.part && end > f.Info.Seconds()+slack {
		return skip(PastEnd, "%s: ends at %.3f s, and %s has %.3f s", u.ID, end, f.path, f.Info.Seconds())
	}
	var err error
	if u.Frames, err = (feature.Options{SampleRate: o.SampleRate}).Frames(u.Samples, u.Rate(), audio.Ratio{}); err != nil {
		return skip(Unreadable, "%s: %v", f.path, err)
	}
	if u.Frames < 1 {
		return skip(TooShort, "%s: %s at %d Hz, 0 feature frames", u.ID, words.Count(u.Samples, "sample"), u.Rate())
	}
	const rounding = 1e-6 // seconds; 1.2 s of 44.1 kHz is no whole number of samples
	switch {
	case u.Duration < o.MinDuration-rounding:
		return skip(TooShort, "%s: %.3f s, min_duration is %v", u.ID, u.Duration, o.MinDuration)
	case o.MaxDuration > 0 && u.Duration > o.MaxDuration+rounding:
		return skip(TooLong, "%s: %.3f s, the limit is %v", u.ID, u.Duration, o.MaxDuration)
	}
	s.remark(u, e, f.Info.Warnings)
	return true
}

// remark notes what is odd about an utterance that is used.
func (s *Set) remark(u *Utterance, e *entry, warnings []string) {
	note := func(kind Kind, format string, args ...any) {
		s.Report.note(e, kind, u.ID, fmt.Sprintf(format, args...), false)
	}
	if e.odd != "" {
		note(WrongDuration, "states %.40q, has %.3f s", e.odd, u.Duration)
	} else if e.duration != 0 && math.Abs(e.duration-u.Duration) > 0.1+0.01*u.Duration {
		note(WrongDuration, "states %v s, has %.3f s", e.duration, u.Duration)
	}
	for _, key := range e.twice {
		note(RepeatedKey, "%s", key)
	}
	for _, w := range warnings {
		note(AudioWarning, "%s", w)
	}
}

// measure sets Samples and Duration from the true length of the file; false if the part starts past its end.
func (u *Utterance) measure(e *entry, info audio.Info) bool {
	rate := float64(info.Rate)
	first, count := 0.0, float64(info.Samples)
	if e.part {
		first = math.Round(e.offset * rate)
		count -= first
		if e.duration > 0 {
			count = min(count, math.Round(e.duration*rate))
		}
	}
	u.Samples = int(max(count, 0))
	u.Duration = float64(u.Samples) / rate
	return u.Samples > 0
}

// enough is an error if too many lines are bad, or if none is left.
func (s *Set) enough() error {
	if err := s.checkLimit(s.Report); err != nil {
		return err
	}
	if s.Report.Kept == 0 {
		return errors.New("no utterance is left\n" + s.Report.String())
	}
	return nil
}

// checkLimit is an error if a report names more bad lines than the options allow.
func (s *Set) checkLimit(r *Report) error {
	bad := 0
	for i := range r.Notes {
		if r.Notes[i].Kind.Bad() {
			bad++
		}
	}
	if limit, over := s.options.tooManyBad(bad, r.Lines); over {
		return fmt.Errorf("%d of %d lines are bad, the limit (bad_line_limit) is %s; correct the list or the files, or raise the limit\n%v",
			bad, r.Lines, limit, r)
	}
	return nil
}

package data

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"konkanitrain/data/archive"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
)

// Load reads a manifest and the headers of its audio files. What can't be used is in the Report of the Set.
// It is an error if a line can't be parsed (unless SkipBadLines), if an id stands twice, if more lines are bad
// than BadLimit allows, and if nothing is left. Where the context ends first, the error is its cause.
func Load(ctx context.Context, path string, o Options) (*Set, error) {
	return LoadAll(ctx, []Manifest{{path, 1}}, o)
}

// load reads the manifest.
func (in *intake) load() error {
	err := in.read(in.path)
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	if err != nil {
		return err
	}
	if !in.options.SkipBadLines {
		if err := in.brokenLines(); err != nil {
			return err
		}
	}
	if in.ids, err = newIdentities(in.rows, in.path, in.prefix); err != nil {
		return err
	}
	if err := in.probe(); err != nil {
		return err
	}
	if err := in.foundAny(); err != nil {
		return err
	}
	in.sayChoices()
	if said := in.ids.sayPrefixes(in.prefix); said != "" {
		in.notes = append(in.notes, said)
	}
	in.choose()
	return in.enough()
}

// intake is a manifest that is being read.
type intake struct {
	listing
	path    string
	options Options
	prefix  string // of identities that an earlier manifest has too
	rows    *rows  // of this manifest, behind those of earlier ones
	from    int    // the first row of this one
	sounds  int    // the first of its sounds
	ids     *identities
	report  *Report

	used    []int32        // rows
	stated  []float64      // durations of the rows from from on, in seconds; 0 is not stated
	reasons map[int]string // of rows that can't be used, the first of each kind
	failed  map[Kind]int
	choices []chosen
	valued  []bool   // by key that is asked for: a line has a value of it
	broken  []string // the first lines that can't be parsed
}

func newIntake(ctx context.Context, path string, o Options, r *rows) *intake {
	r.paths.numbers = nil // the same path in another manifest may be another file
	in := &intake{path: path, options: o, rows: r, from: len(r.places), sounds: len(r.paths.list), report: &Report{Path: path},
		reasons: map[int]string{}, failed: map[Kind]int{}, valued: make([]bool, len(o.Keys))}
	in.listing = listing{ctx: ctx, prepare: o.checkText, take: in.add, index: archive.NewIndex(o.Index), sounds: o.SoundOnly, keys: o.Keys}
	return in
}

// add takes the next line.
func (in *intake) add(e *entry) {
	i := in.rows.add(e)
	in.stated = append(in.stated, e.duration)
	for k, value := range e.values {
		in.valued[k] = in.valued[k] || value != ""
	}
	in.report.Changes.Add(e.edits, text.Place{File: e.file, Line: e.line})
	if e.other != (choice{}) && e.kind == "" {
		in.chose(e)
	}
	if e.kind == "" {
		return
	}
	if in.failed[e.kind]++; in.failed[e.kind] <= notesKept {
		in.reasons[i] = e.reason
	}
	if e.kind == Broken && len(in.broken) < named {
		in.broken = append(in.broken, fmt.Sprintf("%s, line %d: %s", e.file, e.line, e.reason))
	}
}

// brokenLines names the lines that can't be parsed in one error.
func (in *intake) brokenLines() error {
	n := in.failed[Broken]
	if n == 0 {
		return nil
	}
	more := ""
	if n > named {
		more = fmt.Sprintf("\nand %d more", n-named)
	}
	return fmt.Errorf("manifest %s%s\n%d of %d lines can't be read; correct them, or set skip_bad_lines to leave them out",
		strings.Join(in.broken, "\n"), more, n, len(in.stated))
}

// checkText normalizes the text of an entry and marks what can't be used, before any file is looked for.
func (o Options) checkText(e *entry) {
	if o.SoundOnly && (e.kind == "" || e.kind == EmptyText) {
		e.text, e.kind, e.reason, e.other = "", "", "", choice{}
		return
	}
	if e.kind != "" {
		return
	}
	e.text, e.edits = o.Text.Rewrite(e.text)
	switch n := utf8.RuneCountInString(e.text); {
	case n == 0 && o.KeepEmpty && !e.null:
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

// enough is an error if too many lines are bad, or if none is left.
func (in *intake) enough() error {
	if err := in.options.checkLimit(in.report); err != nil {
		return err
	}
	if in.report.Kept == 0 {
		return errors.New("no utterance is left\n" + in.report.String())
	}
	return nil
}

// haveValues is an error if a key is asked for and no line of the manifests has a value of it.
func haveValues(intakes []*intake, keys []string) error {
	for k, key := range keys {
		if slices.ContainsFunc(intakes, func(in *intake) bool { return in.valued[k] }) {
			continue
		}
		in, has := intakes[0], "it is no list with keys"
		if in.known != "" {
			has = "its keys are " + in.known
		}
		return fmt.Errorf("manifest %s: no line has a value of %q; %s", in.path, key, has)
	}
	return nil
}

// checkLimit is an error if a report names more bad lines than the options allow.
func (o Options) checkLimit(r *Report) error {
	bad := 0
	for _, k := range kinds {
		if k.Bad() {
			bad += r.Count(k)
		}
	}
	if limit, over := o.tooManyBad(bad, r.Lines); over {
		return fmt.Errorf("%d of %d lines are bad, the limit (bad_line_limit) is %s; correct the list or the files, or raise the limit\n%v",
			bad, r.Lines, limit, r)
	}
	return nil
}

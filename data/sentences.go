package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/data/archive"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// SentencesReport says what became of the lines of texts.
type SentencesReport struct {
	Path  string
	Lines int      // that aren't blank
	Empty int      // of them, with nothing left by the policy, or without a text
	Bad   int      // of them, that can't be read
	First string   // what is wrong with the first of these, with its line
	Notes []string // about the file as a whole
}

// String is what there is to say, a line each; "" if there is nothing.
func (r *SentencesReport) String() string {
	lines := slices.Clone(r.Notes)
	if r.Bad > 0 {
		lines = append(lines, fmt.Sprintf("%s: %s left out that can't be read: %s", r.Path, words.Count(r.Bad, "line"), r.First))
	}
	if r.Empty > 0 {
		lines = append(lines, fmt.Sprintf("%s: %s without a text", r.Path, words.Count(r.Empty, "line")))
	}
	return strings.Join(lines, "\n")
}

// Sentences reads texts alone, for a language model, and gives each to take, normalized and not empty, in the order of
// the lines. A path is that of a text with one sentence a line, [Stdin] for r, or that of a manifest, of which the
// sound is of no matter and may be missing: JSON lines, a table, a folder, archives. A file is JSON lines where it
// begins with {, and a table where its name ends as one's. An error of take ends the reading, and is returned. It is an
// error if more lines can't be read than [Options.BadLimit] allows where it is 0, and if there is no text.
func Sentences(ctx context.Context, path string, r io.Reader, p text.Policy, take func(sentence string) error) (*SentencesReport, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	report := &SentencesReport{Path: path}
	l := &listing{
		ctx: ctx, texts: true, index: archive.NewIndex(""),
		prepare: func(e *entry) { e.text = p.Normalize(e.text) },
		take: func(e *entry) {
			switch report.Lines++; {
			case ctx.Err() != nil:
			case e.text != "":
				if err := take(e.text); err != nil {
					stop(err)
				}
			case e.kind == Broken && !e.soundless:
				if report.Bad++; report.Bad == 1 {
					report.First = fmt.Sprintf("line %d: %s", e.line, e.reason)
				}
			default:
				report.Empty++
			}
		},
	}
	err := l.sentences(path, r)
	report.Notes = l.notes
	switch limit, over := (Options{}).tooManyBad(report.Bad, report.Lines); {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
	case over:
		err = fmt.Errorf("%s: %d of %d lines can't be read, more than %s: %s", path, report.Bad, report.Lines, limit, report.First)
	case report.Lines == report.Empty+report.Bad:
		err = fmt.Errorf("%s: no text in it, only empty lines or none", path)
	}
	return report, err
}

// sentences reads a text or a manifest.
func (l *listing) sentences(path string, r io.Reader) error {
	if path == Stdin {
		t, err := newText("standard input", r)
		if err != nil {
			return err
		}
		return l.plain(t)
	}
	if is, err := l.archive(path); is || err != nil {
		return err
	}
	if !isFile(path) || isKaldi(path) {
		return l.read(path)
	}
	t, err := openText(path)
	if err != nil {
		return err
	}
	defer t.Close()
	return l.plain(t)
}

// plain reads a text with one sentence a line, or what by its start or its name is a manifest.
func (l *listing) plain(t *textFile) error {
	name := strings.ToLower(filepath.Base(t.path))
	if bytes.HasPrefix(bytes.TrimLeft(t.head, "\r\n\t "), []byte("{")) || strings.HasSuffix(name, transcripts) ||
		slices.Contains([]string{".json", ".jsonl", ".ndjson", ".tsv", ".csv"}, filepath.Ext(name)) {
		l.base = filepath.Dir(t.path)
		return l.readText(t)
	}
	err := l.each(t, 1, func(number int, line string) entry {
		e := entry{file: t.path, line: number, text: line}
		if bad := notText(line); bad != "" {
			e.text = ""
			e.fail(Broken, "%s", bad)
		}
		return e
	})
	l.note(t.note)
	return err
}

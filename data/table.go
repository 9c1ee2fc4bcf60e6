package data

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"konkanitrain/internal/words"
)

// columns are the places of what is used in the rows of a table; -1 where there is no such column.
type columns struct {
	audio, text, duration, offset, id, speaker int
	count                                      int
}

// names of the columns as tables in use have them, the more usual first.
var names = map[string][]string{
	"audio":    {"audio_filepath", "path", "audio", "file", "wav"},
	"text":     {"text", "sentence", "transcript", "transcription"},
	"duration": {"duration"},
	"offset":   {"offset"},
	"id":       {"id", "utt_id"},
	"speaker":  {"speaker", "client_id"},
}

func findColumns(path string, header []string) (columns, error) {
	find := func(what string) int {
		for _, name := range names[what] {
			if i := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) }); i >= 0 {
				return i
			}
		}
		return -1
	}
	c := columns{find("audio"), find("text"), find("duration"), find("offset"), find("id"), find("speaker"), len(header)}
	if c.audio < 0 || c.text < 0 {
		return c, fmt.Errorf("manifest %s: the first line must name a column for the audio (one of %s) "+
			"and one for the text (one of %s); it has %q",
			path, strings.Join(names["audio"], ", "), strings.Join(names["text"], ", "), header)
	}
	return c, nil
}

// entry reads one row. A row may be shorter than the header if what is missing isn't used.
func (c columns) entry(file string, line int, row []string) entry {
	e := entry{file: file, line: line}
	for _, field := range row {
		if bad := notText(field); bad != "" {
			e.fail(Broken, "in %.20q: %s", field, bad)
			return e
		}
	}
	if len(row) > c.count || len(row) <= max(c.audio, c.text) {
		e.fail(Broken, "%s where the header has %d", words.Count(len(row), "column"), c.count)
		return e
	}
	get := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return row[i]
	}
	e.audio, e.text, e.id, e.speaker = get(c.audio), get(c.text), get(c.id), get(c.speaker)
	if offset := strings.TrimSpace(get(c.offset)); offset != "" {
		var ok bool
		e.part = true
		if e.offset, ok = seconds(offset); !ok {
			e.fail(Broken, "offset is %q, not a number of seconds", offset)
		}
	}
	if duration := strings.TrimSpace(get(c.duration)); duration != "" {
		e.state(duration)
	}
	if e.audio == "" && e.kind == "" {
		e.fail(Broken, "the column of the audio is empty")
	}
	e.checkPart()
	return e
}

// tsv reads the tables of Common Voice: fields end at tabs, and a quote is a character like any other.
func (l *listing) tsv(t *textFile) error {
	l.clips = true
	number, header, err := t.line()
	if err != nil || number == 0 {
		return err
	}
	c, err := findColumns(t.path, strings.Split(header, "\t"))
	if err != nil {
		return err
	}
	return l.each(t, number+1, func(number int, line string) entry { return c.entry(t.path, number, strings.Split(line, "\t")) })
}

// csv reads comma-separated (or, where the header has no comma, semicolon-separated) tables with quotes.
func (l *listing) csv(t *textFile) error {
	l.clips = true
	r := csv.NewReader(t)
	r.FieldsPerRecord = -1
	first, _, _ := bytes.Cut(t.head, []byte("\n"))
	if !bytes.ContainsRune(first, ',') && bytes.ContainsRune(first, ';') {
		r.Comma = ';'
	}
	header, err := r.Read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return fmt.Errorf("manifest %s: the header can't be read: %w", t.path, err)
	}
	c, err := findColumns(t.path, header)
	if err != nil {
		return err
	}
	for l.ctx.Err() == nil {
		row, err := r.Read()
		var wrong *csv.ParseError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &wrong):
			e := entry{file: t.path, line: wrong.StartLine}
			e.fail(Broken, "quotes don't match at line %d, column %d (%v)", wrong.Line, wrong.Column, wrong.Err)
			l.add(e)
		case err != nil:
			return fmt.Errorf("manifest %s: %w", t.path, err)
		default:
			line, _ := r.FieldPos(0)
			l.add(c.entry(t.path, line, row))
		}
	}
	return nil
}

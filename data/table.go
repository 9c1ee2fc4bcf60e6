package data

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/data/audio"
	"konkanitrain/internal/words"
)

// columns are the places of what is used in the rows of a table; -1 where there is no such column.
type columns struct {
	audio, duration, offset, stop, id, speaker int
	texts                                      []int // of which the first counts
	header                                     []string
	values                                     []int // of the keys that are asked for
}

// findColumns finds the columns of a header; ok says whether there is one for the audio and one for the text.
func findColumns(header []string) (c columns, ok bool) {
	all := func(names []string) []int {
		var found []int
		for _, name := range names {
			if i := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) }); i >= 0 {
				found = append(found, i)
			}
		}
		return found
	}
	find := func(names ...string) int { return append(all(names), -1)[0] }
	c = columns{
		audio: find(audioKeys...), duration: find("duration"), offset: find("offset", "start"), stop: find("stop"),
		id: find("id", "utt_id"), speaker: find(speakerKeys...), texts: all(textKeys), header: header,
	}
	if c.stop < 0 {
		c.offset = find("offset") // a start alone may be anything
	}
	return c, c.audio >= 0 && len(c.texts) > 0
}

// place finds the columns of keys whose values are asked for.
func (c *columns) place(l *listing) {
	l.known = strings.Join(c.header, ", ")
	for _, key := range l.keys {
		c.values = append(c.values, slices.IndexFunc(c.header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), key) }))
	}
}

// repeated says which columns have the name of one that is used, and aren't; "" if none has.
func (c columns) repeated(path string) string {
	var said []string
	for _, i := range append([]int{c.audio, c.duration, c.offset, c.stop, c.id, c.speaker}, c.texts...) {
		if i < 0 {
			continue
		}
		name := strings.TrimSpace(c.header[i])
		for k := i + 1; k < len(c.header); k++ {
			if strings.EqualFold(strings.TrimSpace(c.header[k]), name) {
				said = append(said, fmt.Sprintf("columns %d and %d are both called %s", i+1, k+1, name))
				break
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s; the first is used", filepath.Base(path), strings.Join(said, ", "))
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
	if len(row) > len(c.header) || len(row) <= max(c.audio, c.texts[0]) {
		e.fail(Broken, "%s where the header has %d", words.Count(len(row), "column"), len(c.header))
		return e
	}
	get := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return row[i]
	}
	e.audio, e.text, e.id, e.speaker = get(c.audio), get(c.texts[0]), get(c.id), get(c.speaker)
	for k, i := range c.values {
		e.setValue(k, len(c.values), get(i))
	}
	for _, i := range c.texts[1:] {
		e.another(c.header[c.texts[0]], c.header[i], get(i))
	}
	if offset := strings.TrimSpace(get(c.offset)); offset != "" {
		var ok bool
		e.part = true
		if e.offset, ok = seconds(offset); !ok {
			e.fail(Broken, "%s is %q, not a number of seconds", c.header[c.offset], offset)
		}
	}
	if duration := strings.TrimSpace(get(c.duration)); duration != "" {
		e.state(duration)
	}
	if stop := strings.TrimSpace(get(c.stop)); stop != "" && e.part && e.kind == "" {
		e.until(stop)
	}
	if e.audio == "" && e.kind == "" {
		e.fail(Broken, "the column of the audio is empty")
	}
	e.checkPart()
	return e
}

// until takes the end of a part as SpeechBrain's lists have it: in seconds, or in samples where that many would not
// fit the duration that is stated too.
func (e *entry) until(written string) {
	stop, ok := seconds(written)
	if !ok || stop <= e.offset {
		e.fail(Broken, "start %v and stop %s are no part of a recording", e.offset, written)
		return
	}
	const leastRate = audio.MinRate // samples to a second
	e.samples = e.duration > 0 && stop-e.offset >= leastRate*e.duration && stop == math.Trunc(stop) && e.offset == math.Trunc(e.offset)
	e.duration = stop - e.offset
}

// separators are what may stand between the columns of a table, the more usual first.
const separators = ",;\t|"

// separator finds what stands between the columns of a table, by its header; ok says whether it is one.
func separator(head []byte) (sep byte, ok bool) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n\t "), []byte("\n"))
	for _, sep := range []byte(separators) {
		if _, ok := findColumns(strings.Split(strings.ReplaceAll(strings.TrimSpace(string(first)), `"`, ""), string(sep))); ok {
			return sep, true
		}
	}
	return 0, false
}

// table reads a table with a header. Where tabs or bars stand between its columns, a quote is a character like any
// other, as in Common Voice and Coqui; commas and semicolons may stand within quotes (RFC 4180).
func (l *listing) table(t *textFile, sep byte) error {
	l.places = tablePlaces
	if sep == ',' || sep == ';' {
		return l.csv(t, sep)
	}
	number, header, err := t.line()
	if err != nil || number == 0 {
		return err
	}
	c, ok := findColumns(strings.Split(header, string(sep)))
	if !ok && !(l.texts && len(c.texts) > 0) {
		return noColumns(t.path, c)
	}
	l.note(c.repeated(t.path))
	c.place(l)
	return l.each(t, number+1, func(number int, line string) entry { return c.entry(t.path, number, strings.Split(line, string(sep))) })
}

// noColumns is the error of a header without the columns that are needed.
func noColumns(path string, c columns) error {
	return fmt.Errorf("manifest %s: the first line must name a column for the audio (one of %s) "+
		"and one for the text (one of %s); it has %q",
		path, strings.Join(audioKeys, ", "), strings.Join(textKeys, ", "), c.header)
}

// csv reads a table with quotes.
func (l *listing) csv(t *textFile, sep byte) error {
	r := csv.NewReader(t)
	r.FieldsPerRecord, r.Comma = -1, rune(sep)
	header, err := r.Read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return fmt.Errorf("manifest %s: the header can't be read: %w", t.path, err)
	}
	c, ok := findColumns(header)
	if !ok && !(l.texts && len(c.texts) > 0) {
		return noColumns(t.path, c)
	}
	l.note(c.repeated(t.path))
	c.place(l)
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

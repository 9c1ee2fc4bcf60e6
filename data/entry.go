package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is one line of a manifest as it is written.
type entry struct {
	id, audio, speaker string
	text               string
	offset, duration   float64 // seconds; duration 0 is not stated
	part               bool    // from offset on, duration long; otherwise the whole file
	file               string  // where it is written
	line               int

	kind   Kind   // what is wrong with the line; "" if nothing is
	reason string // with kind
}

func (e *entry) fail(kind Kind, format string, args ...any) {
	e.kind, e.reason = kind, fmt.Sprintf(format, args...)
}

// listing is a manifest as it is written.
type listing struct {
	entries []entry
	notes   []string // about whole files
	clips   bool     // audio may be in clips/
	folder  bool     // the manifest is a folder, and paths are relative to it
}

// list reads a manifest of any form.
func list(path string) (listing, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return listing{}, fmt.Errorf("manifest: %w", err)
	}
	if stat.IsDir() {
		return listKaldi(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return listing{}, fmt.Errorf("manifest: %w", err)
	}
	return listFile(path, b)
}

// listFile reads a manifest that is one file with the content b.
func listFile(path string, b []byte) (listing, error) {
	b, note, err := decode(path, b)
	if err != nil {
		return listing{}, err
	}
	if i := bytes.IndexByte(b[:min(len(b), 512)], 0); i >= 0 {
		return listing{}, fmt.Errorf("manifest %s: byte %d is 0, so this is not a text file; a manifest is JSON lines, CSV, TSV or a Kaldi folder", path, i+1)
	}
	var l listing
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tsv":
		l, err = listTSV(path, b)
	case ".csv":
		l, err = listCSV(path, b)
	default:
		l, err = listJSON(path, b)
	}
	if note != "" {
		l.notes = append(l.notes, note)
	}
	if err == nil && len(l.entries) == 0 {
		err = fmt.Errorf("manifest %s: no line in it, %d bytes", path, len(b))
	}
	return l, err
}

// jsonLine holds the keys that are used. A pointer tells a missing key (or null) from an empty value.
type jsonLine struct {
	Audio    *string         `json:"audio_filepath"`
	Text     *string         `json:"text"`
	Duration *float64        `json:"duration"`
	Offset   *float64        `json:"offset"`
	ID       json.RawMessage `json:"id"`
	Speaker  json.RawMessage `json:"speaker"`
}

func listJSON(path string, b []byte) (listing, error) {
	if t := strings.TrimSpace(string(b[:min(len(b), 64)])); strings.HasPrefix(t, "[") {
		return listing{}, fmt.Errorf("manifest %s: it starts with [, a JSON list; one object a line is needed, without brackets and commas around them (jq -c '.[]' does that)", path)
	}
	var l listing
	lines(b, func(number int, line string) {
		l.entries = append(l.entries, parseJSON(path, number, line))
	})
	return l, nil
}

func parseJSON(file string, number int, line string) entry {
	e := entry{file: file, line: number}
	if bad := notUTF8(line); bad != "" {
		e.fail(Broken, "%s", bad)
		return e
	}
	var j jsonLine
	if err := json.Unmarshal([]byte(line), &j); err != nil {
		var wrong *json.UnmarshalTypeError
		switch typed := errors.As(err, &wrong); {
		case !typed:
			e.fail(Broken, "not a whole JSON object (%v)", err)
		case wrong.Field == "":
			e.fail(Broken, "a JSON %s, not an object", wrong.Value)
		default:
			e.fail(Broken, "%s is of the JSON type %s", wrong.Field, wrong.Value)
		}
		return e
	}
	if j.Audio == nil || *j.Audio == "" {
		e.fail(Broken, "no audio_filepath%s", keysOf(line))
		return e
	}
	e.audio = *j.Audio
	if j.Text != nil {
		e.text = *j.Text
	}
	if halfEscape(line, e.text) {
		e.fail(Broken, `text has an escape such as \ud800 that is half of a character`)
		return e
	}
	if j.Duration != nil {
		e.duration = *j.Duration
	}
	if j.Offset != nil {
		e.part, e.offset = true, *j.Offset
	}
	var err error
	if e.id, err = scalar(j.ID); err != nil {
		e.fail(Broken, "id is %v", err)
	}
	e.speaker, _ = scalar(j.Speaker) // only informs
	e.checkPart()
	return e
}

// keysOf lists the keys of a line for a message.
func keysOf(line string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &all) != nil || len(all) == 0 {
		return ""
	}
	return "; its keys are " + strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// halfEscape says whether text has a U+FFFD that does not stand in the line: encoding/json puts it in place of an escaped
// surrogate that is alone.
func halfEscape(line, text string) bool {
	const mark = "\uFFFD"
	return strings.Contains(text, mark) && !strings.Contains(line, mark) && !strings.Contains(strings.ToLower(line), `\ufffd`)
}

// scalar is the text of a JSON string or number; "" for null and for a missing key.
func scalar(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String(), nil
	}
	return "", fmt.Errorf("neither text nor a number: %.40s", raw)
}

// checkPart refuses parts that no file can have.
func (e *entry) checkPart() {
	if e.kind == "" && e.part && !(e.offset >= 0 && e.duration >= 0 && !math.IsInf(e.offset+e.duration, 0)) {
		e.fail(Broken, "offset %v s with duration %v s: both must be 0 or more", e.offset, e.duration)
	}
}

package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// listJSON reads JSON lines: one object a line.
func listJSON(path string, b []byte) (listing, error) {
	if t := bytes.TrimSpace(b); bytes.HasPrefix(t, []byte("[")) {
		return listing{}, fmt.Errorf("manifest %s: it starts with [, a JSON list; one object a line is needed, "+
			"without brackets and commas around them (jq -c '.[]' does that)", path)
	}
	var l listing
	withText := 0
	lines(b, func(number int, line string) {
		e, hasText := parseJSON(path, number, line)
		l.entries = append(l.entries, e)
		if hasText {
			withText++
		}
	})
	if len(l.entries) > 0 && l.entries[0].kind == Broken && overSeveralLines(b) {
		return l, fmt.Errorf("manifest %s: the object that starts on line %d goes over several lines; one object a line is needed "+
			"(jq -c . does that)", path, l.entries[0].line)
	}
	if withText == 0 {
		for _, e := range l.entries {
			if e.kind == EmptyText {
				return l, fmt.Errorf("manifest %s: no line has the key text; the one of line %d is %s", path, e.line, e.reason)
			}
		}
	}
	return l, nil
}

// overSeveralLines says whether b starts with a whole JSON object that has line ends in it.
func overSeveralLines(b []byte) bool {
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(b)).Decode(&first)
	return err == nil && first[0] == '{' && bytes.ContainsRune(first, '\n')
}

// parseJSON reads one line. hasText says whether it has the key text, whatever its value.
func parseJSON(file string, number int, line string) (e entry, hasText bool) {
	e = entry{file: file, line: number}
	if bad := notText(line); bad != "" {
		e.fail(Broken, "%s", bad)
		return e, false
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &values); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			e.fail(Broken, "a JSON %s, not an object", wrong.Value)
		} else {
			e.fail(Broken, "not a whole JSON object (%v)", err)
		}
		return e, false
	}
	e.twice = repeated(line)
	_, hasText = values["text"]
	e.take(line, values)
	if !hasText && e.kind == "" {
		e.fail(EmptyText, "%s: no key text; its keys are %s", e.name(), keysOf(values))
	}
	return e, hasText
}

// take takes over the values of the keys that are used.
func (e *entry) take(line string, values map[string]json.RawMessage) {
	text := func(key string) string {
		raw := values[key]
		if isNull(raw) {
			return ""
		}
		var s string
		if json.Unmarshal(raw, &s) != nil && e.kind == "" {
			e.fail(Broken, "%s is of the JSON type %s", key, typeOf(raw))
		}
		return s
	}
	e.audio, e.text = text("audio_filepath"), text("text")
	if e.kind == "" && e.audio == "" {
		e.fail(Broken, "no audio_filepath; its keys are %s", keysOf(values))
	}
	if e.kind == "" && halfEscape(line, e.text) {
		e.fail(Broken, `text has an escape such as \ud800 that is half of a character`)
	}
	if raw := values["offset"]; !isNull(raw) {
		var ok bool
		e.part = true
		if e.offset, ok = seconds(unquote(raw)); !ok && e.kind == "" {
			e.fail(Broken, "offset is %s, not a number of seconds", raw)
		}
	}
	if raw := values["duration"]; !isNull(raw) && string(raw) != `""` {
		e.state(unquote(raw))
	}
	var err error
	if e.id, err = scalar(values["id"]); err != nil && e.kind == "" {
		e.fail(Broken, "id is %v", err)
	}
	e.speaker, _ = scalar(values["speaker"]) // only informs
	e.checkPart()
}

// repeated lists the keys that stand more than once in a line that is a JSON object. The last of them counts, as in
// most readers.
func repeated(line string) []string {
	var twice []string
	seen := map[string]bool{}
	d := json.NewDecoder(strings.NewReader(line))
	_, err := d.Token() // {
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		name, _ := key.(string)
		if seen[name] && !slices.Contains(twice, name) {
			twice = append(twice, name)
		}
		seen[name] = true
		var value json.RawMessage
		err = d.Decode(&value)
	}
	return twice
}

// keysOf lists the keys of a line for a message.
func keysOf(values map[string]json.RawMessage) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(values)), ", ")
}

// halfEscape says whether text has a U+FFFD that does not stand in the line: encoding/json puts it in place of an
// escaped surrogate that is alone.
func halfEscape(line, text string) bool {
	const mark = "\uFFFD"
	return strings.Contains(text, mark) && !strings.Contains(line, mark) && !strings.Contains(strings.ToLower(line), `\ufffd`)
}

// scalar is the text of a JSON string or number; "" for null and for a missing key.
func scalar(raw json.RawMessage) (string, error) {
	switch {
	case isNull(raw):
		return "", nil
	case typeOf(raw) == "string", typeOf(raw) == "number":
		return unquote(raw), nil
	}
	return "", fmt.Errorf("neither text nor a number: %.40s", raw)
}

// isNull says whether a value is null or its key is missing.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// unquote is a JSON string's text, and any other value as it is written.
func unquote(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// typeOf names the JSON type of a value.
func typeOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	}
	return "number"
}

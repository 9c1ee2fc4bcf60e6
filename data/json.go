package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// json reads JSON lines: one object a line.
func (l *listing) json(t *textFile) error {
	if bytes.HasPrefix(bytes.TrimSpace(t.head), []byte("[")) {
		return fmt.Errorf("manifest %s: it starts with [, a JSON list; one object a line is needed, "+
			"without brackets and commas around them (jq -c '.[]' does that)", t.path)
	}
	withText, textless := false, ""
	brokenStart := 0 // the number of the first line, where it is broken
	take := l.take
	l.take = func(e *entry) {
		if l.lines == 0 && e.kind == Broken {
			brokenStart = e.line
		}
		switch {
		case !e.textless:
			withText = true
		case e.kind == EmptyText && textless == "":
			textless = fmt.Sprintf("manifest %s: no line has the key text, or another for the text (%s); the one of line %d is %s", t.path, strings.Join(textKeys[1:], ", "), e.line, e.reason)
		}
		take(e)
	}
	if first, _ := scanObject(string(firstLine(bytes.TrimLeft(t.head, "\x00\r\n\t "))), nil); first != nil {
		l.known = first.keys()
	}
	err := l.each(t, 1, func(number int, line string) entry { return parseJSON(t.path, number, line, l.keys) })
	l.take = take
	switch {
	case err != nil:
		return err
	case brokenStart > 0 && overSeveralLines(t):
		return fmt.Errorf("manifest %s: the object that starts on line %d goes over several lines; one object a line is needed "+
			"(jq -c . does that)", t.path, brokenStart)
	case !withText && textless != "":
		return errors.New(textless)
	}
	return nil
}

// overSeveralLines says whether the start of a text is a whole JSON object that has line ends in it.
func overSeveralLines(t *textFile) bool {
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(t.head)).Decode(&first)
	return err == nil && first[0] == '{' && bytes.ContainsRune(first, '\n')
}

// parseJSON reads one line, and the values of some keys.
func parseJSON(file string, number int, line string, keys []string) entry {
	e := entry{file: file, line: number, textless: true}
	if bad := notText(line); bad != "" {
		e.fail(Broken, "%s", bad)
		return e
	}
	var room [16]member
	o, plain := scanObject(line, room[:0])
	if !plain {
		if o = e.decode(line); e.kind != "" {
			return e
		}
	}
	e.textless = !slices.ContainsFunc(textKeys, o.has)
	e.take(line, o)
	for i, key := range keys {
		e.setValue(i, len(keys), o.written(key))
	}
	if e.textless && e.kind == "" {
		e.fail(EmptyText, "%s: no key text; its keys are %s", e.name(), o.keys())
	}
	return e
}

// decode reads the members of a line with encoding/json, which knows all that can be wrong with it.
func (e *entry) decode(line string) object {
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &values); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			e.fail(Broken, "a JSON %s, not an object", wrong.Value)
		} else {
			e.fail(Broken, "not a whole JSON object (%v)", err)
		}
		return nil
	}
	e.twice = repeated(line)
	var o object
	for key, value := range values {
		o = append(o, member{key, string(value)})
	}
	return o
}

// take takes over the values of the keys that are used.
func (e *entry) take(line string, o object) {
	text := func(key string) string {
		raw := o.get(key)
		if isNull(raw) {
			e.null = true
			return ""
		}
		if raw[0] != '"' && e.kind == "" {
			e.fail(Broken, "%s is of the JSON type %s", key, typeOf(raw))
		}
		if raw[0] != '"' {
			return ""
		}
		return unquote(raw)
	}
	textKey := o.first(textKeys)
	if key := o.first(audioKeys); o.get(key) != "" && o.get(key)[0] == '{' && key == "audio" {
		e.audio = pathIn(o.get(key))
	} else {
		e.audio = text(key)
	}
	e.text = text(textKey)
	for _, key := range textKeys {
		if raw := o.get(key); key != textKey && !isNull(raw) && raw[0] == '"' {
			e.another(textKey, key, unquote(raw))
		}
	}
	if e.kind == "" && e.audio == "" {
		e.failAudio(o)
	}
	if e.kind == "" && halfEscape(line, e.text) {
		e.fail(Broken, `text has an escape such as \ud800 that is half of a character`)
	}
	if raw := o.get("offset"); !isNull(raw) {
		var ok bool
		e.part = true
		if e.offset, ok = seconds(unquote(raw)); !ok && e.kind == "" {
			e.fail(Broken, "offset is %s, not a number of seconds", raw)
		}
	}
	if raw := o.get("duration"); !isNull(raw) && raw != `""` {
		e.state(unquote(raw))
	}
	var err error
	if e.id, err = scalar(o.get("id")); err != nil && e.kind == "" {
		e.fail(Broken, "id is %v", err)
	}
	e.speaker, _ = scalar(o.get(o.first(speakerKeys))) // only informs
	e.checkPart()
}

// failAudio says what is wrong with the path of a line that has none.
func (e *entry) failAudio(o object) {
	e.soundless = true
	key := o.first(audioKeys)
	switch raw := o.get(key); {
	case raw == "":
		e.fail(Broken, "no audio_filepath; its keys are %s", o.keys())
	case raw == "null":
		e.fail(Broken, "%s is null", key)
	case raw[0] == '{':
		e.fail(Broken, "%s has no path in it: %.60s", key, raw)
	default:
		e.fail(Broken, "%s is empty", key)
	}
}

// pathIn is the path in an object with one, as Hugging Face's lists have it for the audio; "" where there is none.
func pathIn(raw string) string {
	var in struct{ Path *string }
	if json.Unmarshal([]byte(raw), &in) != nil || in.Path == nil {
		return ""
	}
	return *in.Path
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

// halfEscape says whether text has a U+FFFD that does not stand in the line: encoding/json puts it in place of an
// escaped surrogate that is alone.
func halfEscape(line, text string) bool {
	const mark = "\uFFFD"
	return strings.Contains(text, mark) && !strings.Contains(line, mark) && !strings.Contains(strings.ToLower(line), `\ufffd`)
}

// scalar is the text of a JSON string or number; "" for null and for a missing key.
func scalar(raw string) (string, error) {
	switch {
	case isNull(raw):
		return "", nil
	case typeOf(raw) == "string", typeOf(raw) == "number":
		return unquote(raw), nil
	}
	return "", fmt.Errorf("neither text nor a number: %.40s", raw)
}

// written is a value as text; "" of an object, a list, null and what isn't there.
func (o object) written(key string) string {
	raw := o.get(key)
	if isNull(raw) || raw[0] == '{' || raw[0] == '[' {
		return ""
	}
	return unquote(raw)
}

// setValue sets the value of key i of n.
func (e *entry) setValue(i, n int, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if e.values == nil {
		e.values = make([]string, n)
	}
	e.values[i] = value
}

// isNull says whether a value is null or its key is missing.
func isNull(raw string) bool { return raw == "" || raw == "null" }

// unquote is a JSON string's text, and any other value as it is written.
func unquote(raw string) string {
	if raw[0] != '"' {
		return raw
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	if s, ok := unescape(raw[1 : len(raw)-1]); ok {
		return s
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // it was read as a string before
	return s
}

// typeOf names the JSON type of a value.
func typeOf(raw string) string {
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

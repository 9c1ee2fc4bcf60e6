package data

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestJSONLines(t *testing.T) {
	checkAll(t, []loadCase{
		{
			name: "no duration",
			content: `{"audio_filepath": "audio/a.wav", "text": "वाट"}` + "\n" +
				`{"audio_filepath": "audio/b.wav", "duration": null, "text": "बीं"}` + "\n" +
				`{"audio_filepath": "audio/c.wav", "duration": 0, "text": "म्हजें"}`,
			texts:     threeTexts,
			durations: []float64{0.5, 1, 1.5},
		},
		{
			name: "empty texts",
			content: edit(lineA, "वाट", "") + edit(lineA, "वाट", "  ") + edit(lineB, "बीं", "\u00a0\u2003") +
				`{"audio_filepath": "audio/b.wav"}` + "\n" + `{"audio_filepath": "audio/b.wav", "text": null}` + "\n" + lineC,
			texts: threeTexts[2:],
			notes: []int{1, 2, 3, 4, 5},
		},
		{name: "two objects on a line", content: strings.ReplaceAll(lineA+lineB, "\n", ""), err: []string{"line 1"}},
		{
			name:    "a list in a line",
			content: lineA + `["audio/a.wav", "वाट"]`,
			err:     []string{"line 2: a JSON array, not an object"},
		},
		{
			name:    "a text that is a number",
			content: edit(lineA, `"वाट"`, "5"),
			err:     []string{"line 1", "text is of the JSON type number"},
		},
		{name: "a text that is an object", content: edit(lineA, `"वाट"`, `{"a": 1}`), err: []string{"text is of the JSON type object"}},
		{name: "a text that is true", content: edit(lineA, `"वाट"`, `true`), err: []string{"text is of the JSON type bool"}},
		{
			name:    "the first thing that is wrong is named",
			content: with(edit(edit(lineA, `"वाट"`, "5"), `"audio/a.wav"`, "6"), `"id": [], "offset": "x"`),
			err:     []string{"line 1: audio_filepath is of the JSON type number"},
		},
		{name: "an id behind a wrong offset", content: with(lineA, `"id": [], "offset": "x"`), err: []string{"line 1: offset is"}},
		{name: "a text behind a missing path", content: edit(edit(lineA, "audio/a.wav", ""), "वाट", `\ud800`), err: []string{"line 1: audio_filepath is empty"}},
		{
			name:    "a path that is a list",
			content: edit(lineA, `"audio/a.wav"`, `["audio/a.wav"]`),
			err:     []string{"line 1: audio_filepath is of the JSON type array"},
		},
		{
			name:    "no audio_filepath",
			content: lineA + `{"text": "वाट", "a": 1}`,
			err:     []string{"line 2", "no audio_filepath; its keys are a, text"},
		},
		{name: "an empty audio_filepath", content: edit(lineA, "audio/a.wav", ""), err: []string{"line 1: audio_filepath is empty"}},
		{name: "an audio_filepath that is null", content: edit(lineA, `"audio/a.wav"`, "null"), err: []string{"line 1: audio_filepath is null"}},
		{name: "an audio without a path in it", content: `{"audio": {"bytes": null}, "text": "a"}` + "\n", err: []string{"line 1: audio has no path in it: {"}},
		{name: "no keys", content: lineA + "{}", err: []string{"line 2", "no audio_filepath; its keys are none"}},
		{name: "an id that is an object", content: with(lineA, `"id": {"a": 1}`), err: []string{`id is neither text nor a number: {"a": 1}`}},
		{
			name:    "half of an escaped character",
			content: lineA + edit(lineB, `"text": "`, `"text": "\ud800`),
			err:     []string{"line 2", `\ud800 that is half of a character`},
		},
		{name: "U+FFFD as it is and escaped", content: edit(lineA, "वाट", "\uFFFDb") + edit(lineB, "बीं", `\ufffdb`), texts: []string{"\uFFFDb", "\uFFFDb"}},
		{
			name:    "Latin-1",
			content: lineA + "{\"audio_filepath\": \"audio/b.wav\", \"text\": \"caf\xe9\"}",
			err:     []string{"line 2", "0xE9", "UTF-8"},
		},
		{
			name:    "a JSON list",
			file:    "x.json",
			content: "[" + strings.ReplaceAll(strings.TrimSpace(lineA+lineB), "\n", ",") + "]",
			err:     []string{"JSON list", "one object a line"},
		},
		{name: "a JSON list far down", content: strings.Repeat("\n", 100) + "[]", err: []string{"JSON list"}},
		{
			name:    "objects over several lines",
			content: "\n" + strings.ReplaceAll(lineA+lineB, ", ", ",\n  "),
			err:     []string{"the object that starts on line 2 goes over several lines", "jq -c ."},
		},
		{
			name:    "such objects aren't bad lines to be skipped",
			content: "{\n" + lineA[1:],
			options: Options{SkipBadLines: true},
			err:     []string{"the object that starts on line 1 goes over several lines"},
		},
		{
			name:    "a first line that is cut is no such object",
			content: lineA[:40] + "\n" + lineB,
			options: Options{SkipBadLines: true},
			texts:   threeTexts[1:2],
			notes:   []int{1},
		},
	})
}

// Keys are matched exactly, and a key that stands twice is named.
func TestJSONKeys(t *testing.T) {
	checkAll(t, []loadCase{
		{
			name:      "keys in another case are other keys",
			content:   with(edit(lineA, "}", `, "Text": "बीं"}`), `"AUDIO_FILEPATH": "audio/c.wav", "Offset": 0.25, "ID": 5`),
			texts:     threeTexts[:1],
			ids:       []string{"audio/a.wav"},
			durations: []float64{0.5},
		},
		{
			name:    "a key that is used stands twice",
			content: lineA + edit(lineB, "}", `, "text": "b", "text": "c"}`),
			texts:   []string{"वाट", "c"},
			notes:   []int{2},
		},
		{
			name:    "a key twice in an object inside the line",
			content: with(lineA, `"more": {"text": "a", "text": "b", "audio_filepath": "c"}`),
			texts:   threeTexts[:1],
		},
		{
			name:    "no line has a text",
			content: strings.ReplaceAll(lineA+lineB, `"text"`, `"words"`),
			err:     []string{"no line has the key text", "sentence", "line 1", "its keys are audio_filepath, duration, words"},
		},
		{
			name:    "a line without a text",
			content: lineA + edit(lineB, `"text"`, `"words"`),
			texts:   threeTexts[:1],
			notes:   []int{2},
		},
	})
	path := filepath.Join(corpus(t, map[string]string{"x.jsonl": edit(lineB, "}", `, "text": "b"}`) + edit(lineA, `"text"`, `"words"`)}), "x.jsonl")
	report := mustLoad(t, path, Options{}).Report.String()
	for _, part := range []string{
		"1 used, key twice in one line, the last is used: line 1: text",
		"1 skipped, empty text: line 2: audio/a.wav: no key text; its keys are audio_filepath, duration, words",
	} {
		if !strings.Contains(report, part) {
			t.Errorf("%q isn't in: %s", part, report)
		}
	}
}

// Without an offset nothing depends on the stated duration, so one that is no number is a remark; with one it is
// needed.
func TestJSONDurations(t *testing.T) {
	checkAll(t, []loadCase{
		{name: "a number as text", content: edit(lineA, "0.5", `"0.5"`)},
		{name: "another number as text", content: edit(lineA, "0.5", `" 5 "`), durations: []float64{0.5}, notes: []int{1}},
		{name: "an empty text", content: edit(lineA, "0.5", `""`)},
		{name: "a word", content: edit(lineA, "0.5", `"long"`), durations: []float64{0.5}, notes: []int{1}},
		{name: "a list", content: edit(lineA, "0.5", `[0.5]`), durations: []float64{0.5}, notes: []int{1}},
		{name: "true", content: edit(lineA, "0.5", `true`), durations: []float64{0.5}, notes: []int{1}},
		{name: "not a number", content: edit(lineA, "0.5", `"NaN"`), durations: []float64{0.5}, notes: []int{1}},
		{name: "infinity", content: edit(lineA, "0.5", `"Inf"`), durations: []float64{0.5}, notes: []int{1}},
		{name: "beyond float64", content: edit(lineA, "0.5", `1e999`), durations: []float64{0.5}, notes: []int{1}},
		{
			name:    "a word, with an offset",
			content: with(edit(lineA, "0.5", `"long"`), `"offset": 0.1`),
			err:     []string{"line 1: duration is long, not a number of seconds", "offset"},
		},
		{
			name:      "numbers as text, with an offset",
			content:   with(edit(lineA, "0.5", `"0.25"`), `"offset": "0.125"`),
			durations: []float64{0.25},
			ids:       []string{"audio/a.wav@0.125"},
		},
		{name: "an offset that is a word", content: with(lineA, `"offset": "late"`), err: []string{`line 1: offset is "late", not a number of seconds`}},
		{name: "an offset that is true", content: with(lineA, `"offset": true`), err: []string{"line 1: offset is true"}},
	})
}

package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	untrue := edit(lineA, "0.5", "30.0") + edit(lineB, "1.0", "-1") + edit(lineC, "1.5", "0.2")
	checkAll(t, []loadCase{
		{
			name:      "none",
			content:   lineA + lineB + lineC,
			texts:     threeTexts,
			durations: []float64{0.5, 1, 1.5},
			ids:       []string{"audio/a.wav", "audio/b.wav", "audio/c.wav"},
		},
		{
			name:    "a limit needs no stated duration",
			content: strings.ReplaceAll(lineA+lineB+lineC, `"duration"`, `"length"`),
			options: Options{MaxDuration: 1.2},
			texts:   threeTexts[:2],
			notes:   []int{3},
		},
		{
			name:      "durations that are not true",
			content:   untrue,
			texts:     threeTexts,
			durations: []float64{0.5, 1, 1.5},
			notes:     []int{1, 2, 3},
		},
		{
			name:    "untrue durations and a limit",
			content: untrue,
			options: Options{MaxDuration: 1.2},
			texts:   threeTexts[:2],
			notes:   []int{1, 2, 3},
		},
		{
			name:    "a duration at the limits",
			content: lineA + lineB + lineC,
			options: Options{MinDuration: 1, MaxDuration: 1},
			texts:   threeTexts[1:2],
			notes:   []int{1, 3},
		},
		{
			name:    "durations that are a rounding away from the limits",
			content: lineA + lineB + lineC,
			options: Options{MinDuration: 0.5000009, MaxDuration: 1.4999991},
			texts:   threeTexts,
		},
		{
			name:    "durations that are more than a rounding away from the limits",
			content: lineA + lineB + lineC,
			options: Options{MinDuration: 0.5000011, MaxDuration: 1.4999989},
			texts:   threeTexts[1:2],
			notes:   []int{1, 3},
		},
		{
			name:    "a text at the limit and one above it",
			content: lineA + lineB + lineC,
			options: Options{MaxTextLength: 3},
			texts:   threeTexts[:2],
			notes:   []int{3},
		},
	})
}

// What is stated is compared with the truth to a tenth of a second and one per cent.
func TestStatedDuration(t *testing.T) {
	checkAll(t, []loadCase{
		{name: "within a tenth of a second", content: edit(lineA, "0.5", "0.604") + edit(lineA, "0.5", "0.396"), notes: []int{2}}, // listed twice
		{name: "further away", content: edit(lineA, "0.5", "0.606"), notes: []int{1}},
		{name: "too short", content: edit(lineA, "0.5", "0.394"), notes: []int{1}},
		{name: "none", content: edit(lineA, "0.5", "0")},
	})
}

func TestIdentities(t *testing.T) {
	checkAll(t, []loadCase{
		{
			name:    "an id twice",
			content: with(lineA, `"id": "u1"`) + with(lineB, `"id": "u2"`) + with(lineC, `"id": "u1"`),
			err:     []string{"the id u1", "line 1 and on line 3"},
		},
		{
			name:    "two ids with one key",
			content: with(lineA, `"id": "8yn0iYCKYHlIj4-BwPqk"`) + with(lineB, `"id": "GReLUrM4wMqfg9yzV3KQ"`),
			err:     []string{"8yn0iYCKYHlIj4-BwPqk and GReLUrM4wMqfg9yzV3KQ have the same 64-bit key", "rename one"},
		},
		{
			name:    "ids that are numbers",
			content: with(lineA, `"id": 7`) + with(lineB, `"id": "7x"`),
			ids:     []string{"7", "7x"},
		},
		{
			name:    "an id that is null is none",
			content: with(lineA, `"id": null`),
			ids:     []string{"audio/a.wav"},
		},
		{
			name:    "one recording under two ids",
			content: with(lineA, `"id": "u1"`) + with(lineA, `"id": "u2"`),
			ids:     []string{"u1", "u2"},
		},
		{
			name:    "one recording twice without ids",
			content: lineA + lineB + lineA + lineA,
			ids:     []string{"audio/a.wav", "audio/b.wav", "audio/a.wav#2", "audio/a.wav#3"},
			notes:   []int{3, 4},
		},
		{
			name:    "a name that stands elsewhere as an id",
			content: with(lineB, `"id": "audio/a.wav#2"`) + lineA + lineA,
			ids:     []string{"audio/a.wav#2", "audio/a.wav", "audio/a.wav#3"},
			notes:   []int{3},
		},
		{
			name:    "a broken line has no identity",
			content: "{}\n{}\n" + lineA,
			options: Options{SkipBadLines: true},
			ids:     []string{"audio/a.wav"},
			notes:   []int{1, 2},
		},
	})
}

func TestBadLines(t *testing.T) {
	missing := lineA + lineB + edit(lineC, "c.wav", "nowhere.wav") + lineC + with(lineC, `"id": "x"`)
	broken := lineA + lineB + lineC[:40] + "\n" + lineC
	kept := []string{"audio/a.wav", "audio/b.wav", "audio/c.wav", "x"}
	checkAll(t, []loadCase{
		{name: "a missing file", content: missing, ids: kept, notes: []int{3}},
		{
			name:    "a missing file and a limit",
			content: missing,
			options: Options{BadLimit: 0.19},
			err:     []string{"1 of 5 lines are bad", "19 %", "nowhere.wav", "line 3"},
		},
		{name: "a missing file at the limit", content: missing, options: Options{BadLimit: 0.2}, ids: kept, notes: []int{3}},
		{name: "a broken line", content: broken, err: []string{"line 3", "1 of 4 lines", "skip_bad_lines"}},
		{name: "a broken line, skipped", content: broken, options: Options{SkipBadLines: true}, texts: threeTexts, notes: []int{3}},
		{name: "nothing", content: "\n\r\n", err: []string{"no line in it"}},
		{name: "nothing is left", content: edit(lineA, "वाट", ""), err: []string{"no utterance is left", "empty text: line 1: audio/a.wav"}},
		{
			name:    "a line with an id is called by it",
			content: with(edit(lineA, "वाट", ""), `"id": "u1"`),
			err:     []string{"no utterance is left", "empty text: line 1: u1"},
		},
		{
			name:    "a folder as audio",
			content: lineA + edit(lineB, "audio/b.wav", "audio"),
			texts:   threeTexts[:1],
			notes:   []int{2},
		},
		{name: "not sound", content: lineA + edit(lineB, "audio/b.wav", "x.jsonl"), texts: threeTexts[:1], notes: []int{2}},
		{name: "a NUL in the path", content: lineA + edit(lineB, "b.wav", `\u0000.wav`), texts: threeTexts[:1], notes: []int{2}},
	})
}

func TestParts(t *testing.T) {
	checkAll(t, []loadCase{
		{
			name: "parts of a file",
			content: with(edit(lineA, "0.5", "0.25"), `"offset": 0.25`) + with(lineC, `"offset": 0`) +
				with(edit(lineC, "1.5", "0"), `"offset": 1.25`),
			durations: []float64{0.25, 1.5, 0.25},
			ids:       []string{"audio/a.wav@0.25", "audio/c.wav", "audio/c.wav@1.25"},
		},
		{
			name: "parts whose duration isn't stated go to the end",
			content: with(edit(lineA, `"duration": 0.5, `, ""), `"offset": 0.25`) + with(edit(lineB, "1.0", "null"), `"offset": 0.25`) +
				with(edit(lineC, "1.5", `""`), `"offset": 0.25`),
			durations: []float64{0.25, 0.75, 1.25},
		},
		{
			name:    "offset null is the whole file",
			content: with(lineA, `"offset": null`),
			ids:     []string{"audio/a.wav"},
		},
		{
			name:      "a part that ends a rounding behind its recording",
			content:   with(edit(lineB, "1.0", "0.599"), `"offset": 0.5`),
			durations: []float64{0.5},
		},
		{
			name:    "a part that ends behind its recording",
			content: lineA + with(edit(lineB, "1.0", "0.602"), `"offset": 0.5`),
			texts:   threeTexts[:1],
			notes:   []int{2},
		},
		{
			name:    "what is left of such a part is too short as well, and is named once",
			content: with(lineC, `"offset": 1.4`),
			options: Options{MinDuration: 0.2},
			err:     []string{"1 skipped, part that ends behind its recording: line 1: audio/c.wav@1.4: ends at 2.900 s", "has 1.500 s"},
		},
		{name: "only a part that starts at the end", content: with(lineB, `"offset": 1`), err: []string{"the part starts at 1 s, the file has 1.000 s"}},
		{name: "a part that starts at the end", content: lineA + with(lineB, `"offset": 1`), texts: threeTexts[:1], notes: []int{2}},
		{
			name:      "a part that starts one sample before the end",
			content:   with(edit(lineB, "1.0", "0"), `"offset": 0.9999`) + lineA,
			options:   Options{},
			durations: []float64{0.5},
			notes:     []int{1}, // too short
		},
		{name: "a part before the start", content: lineA + with(lineB, `"offset": -1`), err: []string{"line 2", "offset -1"}},
		{
			name:    "a part of a negative duration",
			content: lineA + with(edit(lineB, "1.0", "-1"), `"offset": 0.5`),
			err:     []string{"line 2", "duration -1"},
		},
		{
			name:    "a part without end",
			content: with(edit(lineA, "0.5", "1e308"), `"offset": 1e308`),
			err:     []string{"line 1", "offset 1e+308"},
		},
	})
}

// Utterances of one feature frame are used, those of none aren't.
func TestOneFrame(t *testing.T) {
	dir := corpus(t, map[string]string{"one.wav": string(wav(80, 16000)), "none.wav": string(wav(79, 16000)),
		"x.jsonl": `{"audio_filepath": "one.wav", "text": "a"}` + "\n" + `{"audio_filepath": "none.wav", "text": "b"}`})
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	if s.Len() != 1 || s.At(0).Frames != 1 || !slices.Equal(s.Report.reported(TooShort), []int{2}) {
		t.Fatalf("%v", s.Report)
	}
	o := LoaderOptions{Window: 1, Evaluate: true}
	o.Feature = options8k(1).Feature
	o.Feature.SampleRate = 16000
	r, err := newLoader(t, s, o).Start(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := r.Next()
	if err != nil || w.Examples[0].Err != nil || w.Examples[0].Frames != 1 {
		t.Errorf("%v, %+v", err, w)
	}
}

// Thousands of bad lines make one message of a few lines.
func TestManyBadLines(t *testing.T) {
	var b strings.Builder
	b.WriteString(lineA)
	for i := range 3000 {
		fmt.Fprintf(&b, `{"audio_filepath": "audio/no%d.wav", "text": "x"}`+"\n", i)
	}
	path := filepath.Join(corpus(t, map[string]string{"x.jsonl": b.String()}), "x.jsonl")
	_, err := Load(context.Background(), path, Options{})
	if err == nil || strings.Count(err.Error(), "\n") > 12 || !strings.Contains(err.Error(), "3000 of 3001") || !strings.Contains(err.Error(), "and 2992 more") {
		t.Errorf("%v", err)
	}
	s, err := Load(context.Background(), path, Options{BadLimit: 1})
	if err != nil || s.Len() != 1 || s.Report.Count(Missing) != 3000 {
		t.Errorf("limit 100 %%: %v", err)
	}
	_, err = Load(context.Background(), filepath.Join(filepath.Dir(path), "none.jsonl"), Options{})
	if err == nil || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("a manifest that isn't there: %v", err)
	}
}

// A manifest of one bad line more than a message names.
func TestBadLinesAreCounted(t *testing.T) {
	for n, more := range map[int]string{named: "", named + 1: "\nand 1 more\n"} {
		path := filepath.Join(corpus(t, map[string]string{"x.jsonl": strings.Repeat("{}\n", n) + lineA}), "x.jsonl")
		_, err := Load(context.Background(), path, Options{})
		if err == nil || strings.Count(err.Error(), "no audio_filepath") != named || strings.Contains(err.Error(), "more") != (more != "") ||
			!strings.Contains(err.Error(), more) || !strings.Contains(err.Error(), fmt.Sprintf("%d of %d lines", n, n+1)) {
			t.Errorf("%d bad lines: %v", n, err)
		}
	}
}

// Load stops when its context ends: before it has looked at anything, and between two headers.
func TestLoadIsInterrupted(t *testing.T) {
	path := filepath.Join(corpus(t, map[string]string{"x.jsonl": lineA + lineB + lineC}), "x.jsonl")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := Load(ctx, path, Options{}); err != why {
		t.Errorf("%v", err)
	}
	in := newIntake(context.Background(), path, Options{}.withDefaults(), &rows{letters: new(letters)})
	if err := in.read(path); err != nil {
		t.Fatal(err)
	}
	in.ctx = ctx
	if err := in.probe(); err != why {
		t.Errorf("%v", err)
	}
	os.Remove(path)
	if _, err := Load(ctx, path, Options{}); err != why {
		t.Errorf("a manifest was looked for: %v", err)
	}
}

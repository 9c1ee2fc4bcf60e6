package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// spoken is a recording of two segments; the second is a piece that was cut from it at 61.5 s.
var spoken = []Segment{
	{
		Start: 0.25, End: 2, Text: "देव बरें",
		Words:        []Unit{{"देव", 0.25, 0.75, 0.98765}, {"बरें", 1, 1.5, 0.5}},
		Characters:   []Unit{{"द", 0.25, 0.5, 1}, {"े", 0.5, 0.625, 0.9}, {"व", 0.625, 0.75, 0.9}, {"ब", 1, 1.25, 0.5}, {"रें", 1.25, 1.5, 0.5}},
		Alternatives: []Alternative{{"देव बरें", -1.2345}, {"देव बरे", -3}},
	},
	Segment{Start: 0, End: 1.5, Text: `<a> "b"`, Words: []Unit{{"<a>", 0, 0.5, 1}, {`"b"`, 0.5, 1, 0.25}}}.Shift(61.5),
}

// writeAll writes recordings of these segments in one format.
func writeAll(t *testing.T, w Writer, paths ...string) {
	t.Helper()
	for _, path := range paths {
		err := w.Begin(Recording{Path: path, Duration: 63})
		for _, s := range spoken {
			err = errors.Join(err, w.Segment(s))
		}
		if err = errors.Join(err, w.End()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func in(t *testing.T, f Format, paths ...string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := New(f, &b)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, paths...)
	return b.String()
}

// Files of one name are told apart in a CTM, and others are called as ever, each always the same.
func TestNames(t *testing.T) {
	var n Names
	for range 2 {
		for _, x := range [][2]string{
			{"a/one.wav", "one"}, {"b/one.wav", "b_one"}, {"c/b/one.wav", "c_b_one"}, {"/c/b/one.wav", "one.wav"}, {"./a/one.wav", "one"}, {"two x.wav", "two_x"},
			{"a/one.flac", "a_one"}, {"a/one.mp3", "one.mp3"}, {"b/one.mp3", "one.mp3_2"}, {"b/one.MP3", "one.MP3"}, {"../b/two.wav", "two"}, {"b/two.wav", "b_two"},
			{"b_two.wav", "b_two.wav"}, {"d/;x.wav", "_x"}, {"d/...", "..."}, {"e.v1", "e.v1"},
		} {
			if got := n.Of(x[0]); got != x[1] {
				t.Errorf("%s is called %s, want %s", x[0], got, x[1])
			}
		}
	}
	if got := n.Apart(); len(got) != 9 || got[0] != "b/one.wav is b_one" {
		t.Errorf("%q", got)
	}
	var b bytes.Buffer
	w, err := New(CTM, &b)
	if err == nil {
		err = errors.Join(w.Begin(Recording{Path: "b/one.wav", Name: "b_one"}), w.Segment(spoken[0]))
	}
	if err != nil || !strings.HasPrefix(b.String(), "b_one 1 0.250 0.500 ") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestLines(t *testing.T) {
	for f, want := range map[Format]string{
		Text: "a/one.wav\tदेव बरें <a> \"b\"\na/two.wav\tदेव बरें <a> \"b\"\n",
		CTM: strings.Repeat("one_x 1 0.250 0.500 देव 0.988\none_x 1 1.000 0.500 बरें 0.500\n"+
			"one_x 1 61.500 0.500 <a> 1.000\none_x 1 62.000 0.500 \"b\" 0.250\n", 2),
		SRT: "1\n00:00:00,250 --> 00:00:01,500\nदेव बरें\n\n2\n00:01:01,500 --> 00:01:02,500\n<a> \"b\"\n\n",
		VTT: "WEBVTT\n\n1\n00:00:00.250 --> 00:00:01.500\nदेव बरें\n\n2\n00:01:01.500 --> 00:01:02.500\n&lt;a&gt; \"b\"\n\n",
	} {
		paths := []string{"a/one.wav", "a/two.wav"}
		if f == CTM {
			paths = []string{"a/one x.wav", "b/one x.flac"}
		}
		if f.Single() {
			paths = paths[:1]
		}
		if got := in(t, f, paths...); got != want {
			t.Errorf("%s: %q, want %q", f, got, want)
		}
	}
}

// JSON reads back as what was written, to the digits that are kept.
func TestJSON(t *testing.T) {
	want := []Segment{spoken[0].rounded(), spoken[1].rounded()}
	if want[0].Words[0].Confidence != 0.988 || want[0].Alternatives[0].Score != -1.23 {
		t.Fatalf("%+v", want[0])
	}
	var list []struct {
		Recording
		Segments []Segment
	}
	if err := json.Unmarshal([]byte(in(t, JSON, "one.wav", "two.wav")), &list); err != nil || len(list) != 2 {
		t.Fatal(err, list)
	}
	for i, path := range []string{"one.wav", "two.wav"} {
		r := list[i]
		if r.Path != path || r.Duration != 63 || len(r.Segments) != 2 || !equal(r.Segments[0], want[0]) || !equal(r.Segments[1], want[1]) {
			t.Errorf("%+v", r)
		}
	}
	if err := json.Unmarshal([]byte(in(t, JSON)), &list); err != nil || len(list) != 0 {
		t.Errorf("no recording: %v, %+v", err, list)
	}
	lines := strings.Split(in(t, JSONL, "one.wav"), "\n")
	if len(lines) != 3 || lines[2] != "" {
		t.Fatalf("%q", lines)
	}
	for i := range 2 {
		var one struct {
			Path string
			Segment
		}
		if err := json.Unmarshal([]byte(lines[i]), &one); err != nil || one.Path != "one.wav" || !equal(one.Segment, want[i]) {
			t.Errorf("%v %+v", err, one)
		}
	}
}

func equal(a, b Segment) bool {
	return a.Start == b.Start && a.End == b.End && a.Text == b.Text && slices.Equal(a.Words, b.Words) &&
		slices.Equal(a.Characters, b.Characters) && slices.Equal(a.Alternatives, b.Alternatives)
}

// Both tiers go from 0 to the end without a gap, whatever the units are.
func TestTextGrid(t *testing.T) {
	got := in(t, TextGrid, "one.wav")
	testkit.MustContain(t, got, "xmin = 0\nxmax = 63.000\n", `name = "words"`, "intervals: size = 8", `name = "characters"`, "intervals: size = 8",
		"text = \"देव\"", `text = """b"""`)
	for _, units := range [][]Unit{
		nil, {{"a", 0, 1, 1}}, {{"a", 0, 0, 1}, {"b", 0, 0.0004, 1}, {"c", 0.5, 1, 1}}, {{"a", 0.2, 0.7, 1}, {"b", 0.6, 0.9, 1}, {"c", 0.9, 0.9, 1}},
	} {
		at := 0.0
		for i, x := range filled(units, 1.25) {
			if x.Start != at || x.End <= x.Start {
				t.Errorf("%+v: interval %d is %+v, want one from %v on", units, i, x, at)
			}
			at = x.End
		}
		if at != 1.25 {
			t.Errorf("%+v: the end is %v", units, at)
		}
	}
}

// Subtitles are short: two lines of 42 characters, and 7 seconds.
func TestCuesAreShort(t *testing.T) {
	s := Segment{End: 200}
	for i := range 200 {
		s.Words = append(s.Words, Unit{Text: strings.Repeat("क", 1+i%9), Start: float64(i) / 3, End: float64(i)/3 + 0.3})
	}
	n := 0
	for _, c := range cues(s) {
		n += len(strings.Fields(c.Text))
		if c.End-c.Start > 7 {
			t.Errorf("%+v", c)
		}
		two := strings.Split(lines(c.Text), "\n")
		if len(two) > 2 || strings.Join(two, " ") != c.Text {
			t.Errorf("%q", two)
		}
		for _, line := range two {
			if r := []rune(line); len(r) > 42+5 { // a word in the middle goes to one side
				t.Errorf("%d characters: %q", len(r), line)
			}
		}
	}
	if n != 200 {
		t.Errorf("%d words of 200", n)
	}
	if got := lines(strings.Repeat("क", 60)); strings.Contains(got, "\n") {
		t.Errorf("a word is cut: %q", got)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	w := NewFolder(SRT, dir)
	writeAll(t, w, "one.wav", "/a/../b/two.flac", "../c.d/three.mp3")
	for _, name := range []string{"one.srt", "b/two.srt", "c.d/three.srt"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(b) != in(t, SRT, "x") {
			t.Errorf("%s: %v %q", name, err, b)
		}
	}
	testkit.MustFail(t, w.Begin(Recording{Path: "one.mp3"}), "one.srt is the file of two recordings, one.wav and one.mp3")
	if err := w.Begin(Recording{Path: "half.wav"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "half.srt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of a recording that has not ended: %v", err)
	}
}

// A file's name is that of its recording but for the ending of sound: other dots tell parts from each other.
func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"a/x.wav": "a/x.vtt", "x.OPUS": "x.vtt", "x.1.flac": "x.1.vtt", "x.tar.gz": "x.tar.gz.vtt", "-": "-.vtt", "a/.wav": "a/.wav.vtt",
		"a/x.wav@2": "a/x.wav@2.vtt", "a/x.wav@2.25": "a/x.wav@2.25.vtt", "a/x.wav@2.5": "a/x.wav@2.5.vtt", "speaker.1": "speaker.1.vtt", "/../../x.mp3": "x.vtt",
	} {
		if got := Name(VTT, path); got != filepath.FromSlash(want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if err := Distinct(VTT, []string{"a.wav", "b.wav", "a.wav@1", "a.wav@1.5"}); err != nil {
		t.Error(err)
	}
	testkit.MustFail(t, Distinct(VTT, []string{"a.wav", "b.wav", "./a.mp3"}), "a.vtt is the file of two recordings, a.wav and ./a.mp3: write one of them into another folder")
}

// A name with control characters stays in its line, and one that begins like a comment of NIST's is none.
func TestOddNames(t *testing.T) {
	for path, want := range map[string]string{"a\nb.wav": `a\nb.wav`, "a\tb\x1b[1m.wav": `a\tb\x1b[1m.wav`, "a\xff\n.wav": "a\xff" + `\n.wav`, "देव.wav": "देव.wav"} {
		if got, _, _ := strings.Cut(in(t, Text, path), "\t"); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	if got := in(t, CTM, "a/;; b.wav"); !strings.HasPrefix(got, "_;_b 1 0.250 ") {
		t.Errorf("%q", got)
	}
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A disk that is full is an error at once, in any format.
func TestDiskFull(t *testing.T) {
	for f := range strings.SplitSeq(Formats, "|") {
		w, err := New(Format(f), failing{})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(w.Begin(Recording{Path: "x"}), w.Segment(spoken[0]), w.End())
		testkit.MustFail(t, err, "disk full")
	}
	_, err := New("doc", failing{})
	testkit.MustFail(t, err, `no format "doc"`, "textgrid")
}

// What a writer has begun and left, another one goes on with, wherever that was.
func TestContinue(t *testing.T) {
	for _, f := range strings.Split(Formats, "|") {
		format := Format(f)
		var calls []func(w Writer) error
		for _, path := range []string{"a b.wav", "c.wav"} {
			calls = append(calls, func(w Writer) error { return w.Begin(Recording{Path: path, Duration: 63}) })
			for _, s := range append(slices.Clone(spoken), Segment{Start: 70, End: 71}) {
				calls = append(calls, func(w Writer) error { return w.Segment(s) })
			}
			calls = append(calls, func(w Writer) error { return w.End() })
		}
		var want bytes.Buffer
		w, err := New(format, &want)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range append(calls, Writer.Close) {
			if err := call(w); err != nil {
				t.Fatal(err)
			}
		}
		for at := range len(calls) + 1 {
			var got bytes.Buffer
			w, err := New(format, &got)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range calls[:at] {
				if err := call(w); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := json.Marshal(w.Mark())
			if err != nil {
				t.Fatal(err)
			}
			var m Mark
			if err := json.Unmarshal(kept, &m); err != nil {
				t.Fatal(err)
			}
			w, err = Continue(format, &got, m)
			if format == TextGrid && m.Open {
				testkit.MustFail(t, err, "TextGrid", m.Recording.Path)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range append(slices.Clone(calls[at:]), Writer.Close) {
				if err := call(w); err != nil {
					t.Fatal(err)
				}
			}
			if got.String() != want.String() {
				t.Errorf("%s, gone on with after %d calls:\n%s\nwant\n%s", f, at, got.String(), want.String())
			}
		}
	}
}

package data

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// wav is a mono 16-bit file of a tone.
func wav(samples, rate int) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF")
	b = le.AppendUint32(b, uint32(36+2*samples))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1)
	b = le.AppendUint32(le.AppendUint32(b, uint32(rate)), uint32(2*rate))
	b = le.AppendUint16(le.AppendUint16(b, 2), 16)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*samples))
	for i := range samples {
		b = le.AppendUint16(b, uint16(int16(8000*math.Sin(float64(i)*float64(1+samples%7)/9))))
	}
	return b
}

// corpus is a folder with audio/a.wav, b.wav and c.wav of 0.5, 1.0 and 1.5 s at 16 kHz and the files given.
func corpus(t testing.TB, files map[string]string) string {
	dir := t.TempDir()
	all := map[string]string{
		"audio/a.wav": string(wav(8000, 16000)), "audio/b.wav": string(wav(16000, 16000)), "audio/c.wav": string(wav(24000, 16000)),
	}
	for name, content := range files {
		all[name] = content
	}
	for name, content := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reported lists the lines with a note of one of the kinds (any, if none is given), ascending, each once.
func (r *Report) reported(kinds ...Kind) []int {
	var out []int
	for i := range r.Notes {
		if len(kinds) == 0 || slices.Contains(kinds, r.Notes[i].Kind) {
			out = append(out, r.Notes[i].Line)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func texts(s *Set) []string { return slices.Collect(s.Texts()) }

func ids(s *Set) []string {
	var out []string
	for _, u := range s.All() {
		out = append(out, u.ID)
	}
	return out
}

func durations(s *Set) []float64 {
	var out []float64
	for _, u := range s.All() {
		out = append(out, u.Duration)
	}
	return out
}

func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

const (
	lineA = `{"audio_filepath": "audio/a.wav", "duration": 0.5, "text": "वाट"}` + "\n"
	lineB = `{"audio_filepath": "audio/b.wav", "duration": 1.0, "text": "बीं"}` + "\n"
	lineC = `{"audio_filepath": "audio/c.wav", "duration": 1.5, "text": "म्हजें"}` + "\n"
)

// with is a line with a further member.
func with(line, member string) string { return strings.Replace(line, "{", "{"+member+", ", 1) }

// edit is a line with one thing replaced.
func edit(line, old, new string) string {
	if !strings.Contains(line, old) {
		panic(old + " isn't in " + line)
	}
	return strings.Replace(line, old, new, 1)
}

// threeTexts are those of lineA, lineB and lineC.
var threeTexts = []string{"वाट", "बीं", "म्हजें"}

// loadCase is a manifest beside the audio of corpus, and what comes of it.
type loadCase struct {
	name    string
	file    string // "" for x.jsonl
	content string
	options Options

	texts     []string // of what is used; nil: not looked at, as are the next two
	ids       []string
	durations []float64
	notes     []int    // the lines with a note of any kind
	err       []string // parts of the one error
}

func (c loadCase) check(t *testing.T) {
	t.Helper()
	if c.file == "" {
		c.file = "x.jsonl"
	}
	s, err := Load(context.Background(), filepath.Join(corpus(t, map[string]string{c.file: c.content}), c.file), c.options)
	if c.err != nil {
		if err == nil {
			t.Fatalf("no error, %v", s.Report)
		}
		for _, part := range append(c.err, c.file) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q isn't in: %v", part, err)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.texts != nil && !slices.Equal(texts(s), c.texts) {
		t.Errorf("texts %q, want %q", texts(s), c.texts)
	}
	if c.ids != nil && !slices.Equal(ids(s), c.ids) {
		t.Errorf("ids %q, want %q", ids(s), c.ids)
	}
	if c.durations != nil && !slices.Equal(durations(s), c.durations) {
		t.Errorf("durations %v, want %v", durations(s), c.durations)
	}
	if got := s.Report.reported(); !slices.Equal(got, c.notes) {
		t.Errorf("lines %v are reported, want %v: %v", got, c.notes, s.Report)
	}
	if s.Report.Kept != s.Len() {
		t.Errorf("%d kept, the report says %d", s.Len(), s.Report.Kept)
	}
}

func checkAll(t *testing.T, cases []loadCase) {
	for _, c := range cases {
		t.Run(c.name, c.check)
	}
}

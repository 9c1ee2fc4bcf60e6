package data

import (
	"context"
	"encoding/binary"
	"fmt"
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
	all := map[string]string{"audio/a.wav": string(wav(8000, 16000)), "audio/b.wav": string(wav(16000, 16000)), "audio/c.wav": string(wav(24000, 16000))}
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
	for _, u := range s.Utterances {
		out = append(out, u.ID)
	}
	return out
}

func seconds(s *Set) []float64 {
	var out []float64
	for _, u := range s.Utterances {
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

func TestLoad(t *testing.T) {
	foreign := strings.ReplaceAll(lineA+lineB+lineC, `"audio/`, `"/Volumes/data&proj/my set/`)
	type want struct {
		texts     []string
		ids       []string
		durations []float64
		lines     []int    // with any note
		err       []string // parts of the one message
	}
	abc := []string{"वाट", "बीं", "म्हजें"}
	lengths := []float64{0.5, 1, 1.5}
	for _, c := range []struct {
		name    string
		file    string
		content string
		options Options
		want    want
	}{
		{"good", "x.jsonl", lineA + lineB + lineC, Options{}, want{texts: abc, durations: lengths, ids: []string{"audio/a.wav", "audio/b.wav", "audio/c.wav"}}},
		{"no duration", "x.jsonl", `{"audio_filepath": "audio/a.wav", "text": "वाट"}` + "\n" + `{"audio_filepath": "audio/b.wav", "duration": null, "text": "बीं"}` + "\n" + `{"audio_filepath": "audio/c.wav", "duration": 0, "text": "म्हजें"}`,
			Options{}, want{texts: abc, durations: lengths}},
		{"a limit needs no stated duration", "x.jsonl", strings.ReplaceAll(lineA+lineB+lineC, `"duration"`, `"length"`),
			Options{MaxDuration: 1.2}, want{texts: abc[:2], lines: []int{3}}},
		{"durations that are not true", "x.jsonl", strings.NewReplacer("0.5", "30.0", "1.0", "-1", "1.5", "0.2").Replace(lineA + lineB + lineC),
			Options{}, want{texts: abc, durations: lengths, lines: []int{1, 2, 3}}},
		{"untrue durations and a limit", "x.jsonl", strings.NewReplacer("0.5", "30.0", "1.0", "-1", "1.5", "0.2").Replace(lineA + lineB + lineC),
			Options{MaxDuration: 1.2}, want{texts: abc[:2], lines: []int{1, 2, 3}}},
		{"a least duration", "x.jsonl", lineA + lineB + lineC, Options{MinDuration: 1}, want{texts: abc[1:], lines: []int{1}}},
		{"a limit on the text", "x.jsonl", lineA + lineB + lineC, Options{MaxTextLength: 3}, want{texts: abc[:2], lines: []int{3}}},
		{"empty texts", "x.jsonl", strings.Replace(lineA, "वाट", "", 1) + strings.Replace(lineA, "वाट", "  ", 1) + strings.Replace(lineB, "बीं", "\u00a0\u2003", 1) +
			`{"audio_filepath": "audio/b.wav"}` + "\n" + `{"audio_filepath": "audio/b.wav", "text": null}` + "\n" + lineC,
			Options{}, want{texts: abc[2:], lines: []int{1, 2, 3, 4, 5}}},
		{"paths of another computer", "x.jsonl", foreign, Options{}, want{err: []string{"0 of 3 audio files found", "/Volumes/data&proj/my set/a.wav", "--path_map '/Volumes/data&proj/my set=NEW_FOLDER'"}}},
		{"paths of another computer, mapped", "x.jsonl", foreign, Options{PathMap: []Mapping{{"/elsewhere", "no"}, {"/Volumes/data&proj/my set", "audio"}}},
			want{texts: abc, ids: []string{"/Volumes/data&proj/my set/a.wav", "/Volumes/data&proj/my set/b.wav", "/Volumes/data&proj/my set/c.wav"}}},
		{"a mapping ends at a folder", "x.jsonl", foreign, Options{PathMap: []Mapping{{"/Volumes/data&proj/my", "audio"}}}, want{err: []string{"0 of 3"}}},
		{"a Windows drive, mapped", "x.jsonl", strings.ReplaceAll(lineA+lineB, `"audio/`, `"D:\\sets\\`), Options{PathMap: []Mapping{{`D:\sets\`, "audio"}}}, want{texts: abc[:2]}},
		{"backslashes", "x.jsonl", strings.ReplaceAll(lineA+lineB+lineC, `audio/`, `audio\\`), Options{}, want{texts: abc}},
		{"byte-order mark, CRLF, empty line, no newline at the end", "x.jsonl", "\ufeff" + strings.ReplaceAll(lineA+lineB+"\n"+strings.TrimSpace(lineC), "\n", "\r\n"),
			Options{MaxDuration: 1}, want{texts: abc[:2], lines: []int{4}}},
		{"UTF-16", "x.jsonl", utf16le(lineA + lineB + lineC), Options{}, want{texts: abc}},
		{"UTF-16 without a mark", "x.jsonl", utf16le(lineA + lineB + lineC)[2:], Options{}, want{texts: abc}},
		{"a sound file", "x.jsonl", string(wav(100, 16000)), Options{}, want{err: []string{"byte 6 is 0", "not a text file"}}},
		{"UTF-16, cut", "x.jsonl", utf16le(lineA + lineB)[:101], Options{}, want{err: []string{"UTF-16", "101", "UTF-8"}}},
		{"an id twice", "x.jsonl", strings.Replace(lineA, "{", `{"id": "u1", `, 1) + strings.Replace(lineB, "{", `{"id": "u2", `, 1) + strings.Replace(lineC, "{", `{"id": "u1", `, 1),
			Options{}, want{err: []string{"the id u1", "lines 1 and 3"}}},
		{"ids that are numbers", "x.jsonl", strings.Replace(lineA, "{", `{"id": 7, `, 1) + strings.Replace(lineB, "{", `{"id": "7x", `, 1), Options{}, want{texts: abc[:2], ids: []string{"7", "7x"}}},
		{"one recording under two ids", "x.jsonl", strings.Replace(lineA, "{", `{"id": "u1", `, 1) + strings.Replace(lineA, "{", `{"id": "u2", `, 1), Options{}, want{ids: []string{"u1", "u2"}}},
		{"one recording twice without ids", "x.jsonl", lineA + lineB + lineA + lineA, Options{}, want{ids: []string{"audio/a.wav", "audio/b.wav", "audio/a.wav#2", "audio/a.wav#3"}, lines: []int{3, 4}}},
		{"a missing file", "x.jsonl", lineA + lineB + strings.Replace(lineC, "c.wav", "nowhere.wav", 1) + lineC + strings.Replace(lineC, "{", `{"id": "x", `, 1),
			Options{}, want{ids: []string{"audio/a.wav", "audio/b.wav", "audio/c.wav", "x"}, lines: []int{3}}},
		{"a missing file and a limit", "x.jsonl", lineA + lineB + strings.Replace(lineC, "c.wav", "nowhere.wav", 1) + lineC + strings.Replace(lineC, "{", `{"id": "x", `, 1),
			Options{BadLimit: 0.19}, want{err: []string{"1 of 5 lines are bad", "19 %", "nowhere.wav", "line 3"}}},
		{"a missing file at the limit", "x.jsonl", lineA + lineB + strings.Replace(lineC, "c.wav", "nowhere.wav", 1) + lineC + strings.Replace(lineC, "{", `{"id": "x", `, 1),
			Options{BadLimit: 0.2}, want{ids: []string{"audio/a.wav", "audio/b.wav", "audio/c.wav", "x"}, lines: []int{3}}},
		{"a broken line", "x.jsonl", lineA + lineB + lineC[:40] + "\n" + lineC, Options{}, want{err: []string{"line 3", "1 of 4 lines", "skip_bad_lines"}}},
		{"a broken line, skipped", "x.jsonl", lineA + lineB + lineC[:40] + "\n" + lineC, Options{SkipBadLines: true}, want{texts: abc, lines: []int{3}}},
		{"two objects on a line", "x.jsonl", strings.ReplaceAll(lineA+lineB, "\n", ""), Options{}, want{err: []string{"line 1"}}},
		{"a list in a line", "x.jsonl", lineA + `["audio/a.wav", "वाट"]`, Options{}, want{err: []string{"line 2: a JSON array, not an object"}}},
		{"a text that is a number", "x.jsonl", strings.Replace(lineA, `"वाट"`, "5", 1), Options{}, want{err: []string{"line 1", "text is of the JSON type number"}}},
		{"no audio_filepath", "x.jsonl", lineA + `{"text": "वाट"}`, Options{}, want{err: []string{"line 2", "no audio_filepath; its keys are text"}}},
		{"half of an escaped character", "x.jsonl", lineA + strings.Replace(lineB, `"text": "`, `"text": "\ud800`, 1), Options{}, want{err: []string{"line 2", `\ud800 that is half of a character`}}},
		{"Latin-1", "x.jsonl", lineA + "{\"audio_filepath\": \"audio/b.wav\", \"text\": \"caf\xe9\"}", Options{}, want{err: []string{"line 2", "0xE9", "UTF-8"}}},
		{"a JSON list", "x.json", "[" + strings.ReplaceAll(strings.TrimSpace(lineA+lineB), "\n", ",") + "]", Options{}, want{err: []string{"JSON list", "one object a line"}}},
		{"nothing", "x.jsonl", "\n\r\n", Options{}, want{err: []string{"no line in it"}}},
		{"a folder as audio", "x.jsonl", lineA + strings.Replace(lineB, "audio/b.wav", "audio", 1), Options{}, want{texts: abc[:1], lines: []int{2}}},
		{"a NUL in the path", "x.jsonl", lineA + strings.Replace(lineB, "b.wav", `\u0000.wav`, 1), Options{}, want{texts: abc[:1], lines: []int{2}}},
		{"parts of a file", "x.jsonl", strings.Replace(lineA, "{", `{"offset": 0.25, `, 1) + strings.Replace(lineC, "{", `{"offset": 0, `, 1) + strings.NewReplacer("{", `{"offset": 1.25, `, "0.5", "9").Replace(strings.ReplaceAll(lineA, "a.wav", "c.wav")),
			Options{}, want{durations: []float64{0.25, 1.5, 0.25}, ids: []string{"audio/a.wav@0.25", "audio/c.wav", "audio/c.wav@1.25"}, lines: []int{1, 3}}},
		{"a part past the end", "x.jsonl", lineA + strings.Replace(lineB, "{", `{"offset": 1, `, 1), Options{}, want{texts: abc[:1], lines: []int{2}}},
		{"a part before the start", "x.jsonl", lineA + strings.Replace(lineB, "{", `{"offset": -1, `, 1), Options{}, want{err: []string{"line 2", "offset -1"}}},
		{"not sound", "x.jsonl", lineA + strings.Replace(lineB, "audio/b.wav", "x.jsonl", 1), Options{}, want{texts: abc[:1], lines: []int{2}}},
		{"Common Voice", "cv.tsv", "client_id\tpath\tsentence\tlocale\ns\ta.wav\tताणें \"वाट\tgom\ns\tb.wav\tबीं, बी\tgom\ns\tc.wav\t\tgom\ns\tclips/c.wav\tम्हजें\tgom\n",
			Options{PathMap: []Mapping{{"a.wav", "audio/a.wav"}, {"b.wav", "audio/b.wav"}, {"clips", "audio"}}}, want{texts: []string{`ताणें "वाट`, "बीं, बी", "म्हजें"}, ids: []string{"a.wav", "b.wav", "clips/c.wav"}, lines: []int{4}}},
		{"a tab too many", "x.tsv", "path\tsentence\naudio/a.wav\tवाट\naudio/b.wav\tब\tी\n", Options{}, want{err: []string{"line 3", "3 columns", "has 2"}}},
		{"CSV with quotes", "x.csv", "audio_filepath,duration,text\r\naudio/a.wav,0.5,\"वाट, वांट\"\r\naudio/b.wav,1.0,\"ताणें \"\"बीं\"\"\"\r\n\"audio/c.wav\",1.5,\"म्हजें\nम्हजे\"\r\naudio/no.wav,,बी\r\n",
			Options{}, want{texts: []string{"वाट, वांट", `ताणें "बीं"`, "म्हजें म्हजे"}, lines: []int{6}}},
		{"CSV with semicolons", "x.csv", "path;text\naudio/a.wav;वाट, बीं\n", Options{}, want{texts: []string{"वाट, बीं"}}},
		{"CSV with a quote that isn't closed", "x.csv", "path,text\naudio/a.wav,वाट\naudio/b.wav,\"बीं\n", Options{}, want{err: []string{"line 3", "quotes"}}},
		{"CSV without the columns", "x.csv", "file name,words\naudio/a.wav,वाट\n", Options{}, want{err: []string{"audio_filepath", "transcript", `"words"`}}},
		{"CSV with a duration that is no number", "x.csv", "path,text,duration\naudio/a.wav,वाट,long\n", Options{}, want{err: []string{"line 2", `duration is "long"`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := corpus(t, map[string]string{c.file: c.content})
			s, err := Load(context.Background(), filepath.Join(dir, c.file), c.options)
			if c.want.err != nil {
				if err == nil {
					t.Fatalf("no error, %v", s.Report)
				}
				for _, part := range append(c.want.err, c.file) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q isn't in: %v", part, err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.want.texts != nil && !slices.Equal(texts(s), c.want.texts) {
				t.Errorf("texts %q, want %q", texts(s), c.want.texts)
			}
			if c.want.ids != nil && !slices.Equal(ids(s), c.want.ids) {
				t.Errorf("ids %q, want %q", ids(s), c.want.ids)
			}
			if c.want.durations != nil && !slices.Equal(seconds(s), c.want.durations) {
				t.Errorf("durations %v, want %v", seconds(s), c.want.durations)
			}
			if got := s.Report.reported(); !slices.Equal(got, c.want.lines) {
				t.Errorf("lines %v are reported, want %v: %v", got, c.want.lines, s.Report)
			}
			if s.Report.Kept != len(s.Utterances) {
				t.Errorf("%d kept, the report says %d", len(s.Utterances), s.Report.Kept)
			}
		})
	}
}

// A note says in which order the bytes of a UTF-16 file are.
func TestNoteOfUTF16(t *testing.T) {
	little := []byte(utf16le(lineA))
	big := slices.Clone(little)
	for i := 0; i < len(big); i += 2 {
		big[i], big[i+1] = big[i+1], big[i]
	}
	for order, content := range map[string][]byte{"little-endian": little, "big-endian": big} {
		dir := corpus(t, map[string]string{"x.jsonl": string(content)})
		s, err := Load(context.Background(), filepath.Join(dir, "x.jsonl"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(s.Report); !strings.Contains(text, "x.jsonl is UTF-16 ("+order+")") {
			t.Errorf("%s: %s", order, text)
		}
	}
}

func TestLoadKaldi(t *testing.T) {
	dir := corpus(t, map[string]string{
		"k/text":         "u1 वाट\nu2\tबीं \nu4 कूय\nu10 म्हजें\nu5\n",
		"k/wav.scp":      "u10 ../audio/c.wav\nu2 ../audio/b.wav\nu1 ../audio/a.wav\nu3 ../audio/a.wav\nu5 ../audio/a.wav\n",
		"k/utt2spk":      "u3 s1\nu1 s1\nu10 s2\n",
		"seg/text":       "r1-2 बीं\nr1-1 वाट\nr1-3 बी\n",
		"seg/segments":   "r1-1 r1 0.0 0.5\nr1-2 r1 0.5 -1\nr1-3 r9 0 1\n",
		"seg/wav.scp":    "r1 ../audio/c.wav\n",
		"twice/text":     "u1 a\nu2 b\nu1 c\n",
		"twice/wav.scp":  "u1 ../audio/a.wav\n",
		"pipe/text":      "u1 a\n",
		"pipe/wav.scp":   "u1 sph2pipe -f wav x.sph |\n",
		"noaudio/text":   "u1 a\n",
		"segbad/text":    "u1 a\n",
		"segbad/wav.scp": "r1 ../audio/c.wav\n", "segbad/segments": "u1 r1 2 1\n",
	})
	s, err := Load(context.Background(), filepath.Join(dir, "k"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(s); !slices.Equal(got, []string{"u1", "u2", "u10"}) {
		t.Errorf("ids %q", got)
	}
	if !slices.Equal(texts(s), []string{"वाट", "बीं", "म्हजें"}) || s.Utterances[2].Speaker != "s2" || s.Utterances[1].Speaker != "" {
		t.Errorf("%q", texts(s))
	}
	summary := s.Report.String()
	for _, part := range []string{"3 of 6", "u3 in wav.scp, line 4: not in text", "u4 in text, line 3: not in wav.scp", "u5 in text, line 5"} {
		if !strings.Contains(summary, part) {
			t.Errorf("%q isn't in: %s", part, summary)
		}
	}
	s, err = Load(context.Background(), filepath.Join(dir, "seg"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids(s), []string{"r1-2", "r1-1"}) || !slices.Equal(seconds(s), []float64{1, 0.5}) || s.Utterances[0].Offset != 0.5 {
		t.Errorf("segments: %v, %v", ids(s), s.Report)
	}
	for folder, part := range map[string]string{"twice": "u1 stands on lines 1 and 3", "pipe": "command", "noaudio": "wav.scp", "audio": "needs text and wav.scp", "segbad": "start 2 and end 1"} {
		if _, err := Load(context.Background(), filepath.Join(dir, folder), Options{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// Clips of a Common Voice table lie in clips/.
func TestLoadClips(t *testing.T) {
	dir := corpus(t, map[string]string{"cv/train.tsv": "path\tsentence\na.wav\tवाट\n", "cv/clips/a.wav": string(wav(8000, 8000))})
	s, err := Load(context.Background(), filepath.Join(dir, "cv", "train.tsv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := s.Utterances[0]
	if u.Path != filepath.Join(dir, "cv", "clips", "a.wav") || u.Rate != 8000 || u.Samples != 8000 || u.Duration != 1 || u.Frames != 100 {
		t.Errorf("%+v", u)
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
	if err != nil || len(s.Utterances) != 1 || s.Report.Count(Missing) != 3000 {
		t.Errorf("limit 100 %%: %v", err)
	}
	_, err = Load(context.Background(), filepath.Join(filepath.Dir(path), "none.jsonl"), Options{})
	if err == nil || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("a manifest that isn't there: %v", err)
	}
}

func TestOptions(t *testing.T) {
	if err := (Options{}).Validate(); err != nil {
		t.Error(err)
	}
	err := Options{SampleRate: 16, MinDuration: 5, MaxDuration: 2, MaxTextLength: -1, BadLimit: 5, PathMap: []Mapping{{"", "x"}}}.Validate()
	for _, part := range []string{"sample_rate 16", "min_duration 5", "max_text_length -1", "bad_line_limit 5", "path_map"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q isn't in: %v", part, err)
		}
	}
	if m, err := ParsePathMap([]string{"/a b/c=/d=e", "x="}); err != nil || !slices.Equal(m, []Mapping{{"/a b/c", "/d=e"}, {"x", ""}}) {
		t.Errorf("%v, %v", m, err)
	}
	_, err = ParsePathMap([]string{"", "x", "a=b", "=x"})
	if err == nil || strings.Count(err.Error(), "write from=to") != 3 {
		t.Errorf("want three mistakes: %v", err)
	}
	// By default ten bad lines pass, and five per cent of a long list.
	for _, c := range []struct {
		limit      float64
		bad, lines int
		over       bool
	}{{0, 10, 10, false}, {0, 11, 200, true}, {0, 11, 220, false}, {0, 150, 3000, false}, {0, 151, 3000, true}, {0.1, 1, 9, true}, {0.1, 1, 10, false}, {1, 9, 9, false}} {
		if _, over := (Options{BadLimit: c.limit}).tooManyBad(c.bad, c.lines); over != c.over {
			t.Errorf("%d of %d bad lines, limit %v: over is %v", c.bad, c.lines, c.limit, over)
		}
	}
}

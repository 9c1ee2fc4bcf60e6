package data

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestPaths(t *testing.T) {
	foreign := strings.ReplaceAll(lineA+lineB+lineC, `"audio/`, `"/Volumes/data&proj/my set/`)
	checkAll(t, []loadCase{
		{
			name:    "of another computer",
			content: foreign,
			err:     []string{"0 of 3 audio files found", "/Volumes/data&proj/my set/a.wav", "looked for as written", "--path_map '/Volumes/data&proj/my set=NEW_FOLDER'"},
		},
		{
			name:    "of another computer, mapped",
			content: foreign,
			options: Options{PathMap: []Mapping{{"/elsewhere", "no"}, {"/Volumes/data&proj/my set", "audio"}}},
			texts:   threeTexts,
			ids:     []string{"/Volumes/data&proj/my set/a.wav", "/Volumes/data&proj/my set/b.wav", "/Volumes/data&proj/my set/c.wav"},
		},
		{
			name:    "the first mapping that fits counts",
			content: foreign,
			options: Options{PathMap: []Mapping{{"/Volumes", "no"}, {"/Volumes/data&proj/my set", "audio"}}},
			err:     []string{"0 of 3"},
		},
		{
			name:    "a mapping ends at a folder",
			content: foreign,
			options: Options{PathMap: []Mapping{{"/Volumes/data&proj/my", "audio"}}},
			err:     []string{"0 of 3"},
		},
		{
			name:    "of a Windows drive, mapped",
			content: strings.ReplaceAll(lineA+lineB, `"audio/`, `"D:\\sets\\`),
			options: Options{PathMap: []Mapping{{`D:\sets\`, "audio/"}}},
			texts:   threeTexts[:2],
		},
		{name: "backslashes", content: strings.ReplaceAll(lineA+lineB+lineC, `audio/`, `audio\\`), texts: threeTexts},
		{
			name:    "of lines that are looked at alone",
			content: edit(lineA, "वाट", "") + edit(edit(lineB, "audio/", "/x/"), "b.wav", "c.wav") + edit(lineC, "audio/", "/y/"),
			err:     []string{"0 of 2 audio files found", "The first, on line 2, is /x/c.wav", "'/x=NEW_FOLDER'"},
		},
		{name: "no folder", content: edit(lineA, "audio/a.wav", "no.wav"), err: []string{"0 of 1", "looked for as /", "FOLDER=NEW_FOLDER"}},
		{name: "a ~", content: edit(lineA, "audio/", "~/"), err: []string{"0 of 1", "~ is not expanded"}},
		{name: "a ~ among others", content: lineB + edit(lineA, "audio/", "~/"), texts: threeTexts[1:2], notes: []int{2}},
	})
}

func TestTilde(t *testing.T) {
	for path, due := range map[string]bool{"~": true, "~/a.jsonl": true, "a~/b": false, "~ann/x": false, "": false} {
		if (pathHint(path) != "") != due {
			t.Errorf("%q: %q", path, pathHint(path))
		}
	}
	if _, err := Load(context.Background(), "~/none.jsonl", Options{}); err == nil || !strings.Contains(err.Error(), "~ is not expanded") {
		t.Errorf("%v", err)
	}
}

// What is there and can't be used as a file is told from what isn't there, and URLs are shown as they are written.
func TestPathsThatAreNoFiles(t *testing.T) {
	dir := corpus(t, map[string]string{"folder.wav/x": "", "closed/a.wav": "", "x.jsonl": lineA + lineB + lineC +
		edit(lineA, "audio/a.wav", "folder.wav") + edit(lineA, "audio/a.wav", "https://example.com/b.wav") + edit(lineA, "audio/a.wav", "closed/a.wav")})
	os.Chmod(filepath.Join(dir, "closed"), 0)
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	want := []string{"folder.wav is a folder, not a file of sound", ": https://example.com/b.wav; a URL, and nothing is fetched"}
	if os.Geteuid() != 0 { // who may enter any folder
		want = append(want, "closed/a.wav: permission denied: this user can't look into its folder")
	}
	for _, part := range want {
		if !strings.Contains(s.Report.String(), part) {
			t.Errorf("%q isn't in: %v", part, s.Report)
		}
	}
	if !slices.Equal(s.Report.reported(Missing), []int{5}) {
		t.Errorf("lines %v are missing", s.Report.reported(Missing))
	}
	for path, is := range map[string]bool{"s3://a": true, "https://x/y": true, `D://x`: false, "a/b://c": false, "://": false, "a.wav": false} {
		if isURL(path) != is {
			t.Errorf("%s: %v", path, !is)
		}
	}
}

// Where no file has the literal name, one whose name is the same in another Unicode form is taken, in any part of the
// path.
func TestOtherUnicodeForm(t *testing.T) {
	nfd := norm.NFD.String
	dir := corpus(t, map[string]string{
		nfd("São.wav"): string(wav(8000, 16000)), nfd("Kõkṇi") + "/" + nfd("सऩ.wav"): string(wav(16000, 16000)),
		// U+0958 is one character that no normal form has.
		"\u0958.wav": string(wav(24000, 16000)),
		"\u00e9.wav": string(wav(8000, 16000)), nfd("\u00e9.wav"): string(wav(16000, 16000)),
	})
	line := func(path string) string { return edit(lineA, "audio/a.wav", path) }
	os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(line("São.wav")+line("Kõkṇi/सऩ.wav")+line("\u0915\u093c.wav")+
		line("\u00e9.wav")+line(nfd("\u00e9.wav"))+line("é/none.wav")+line("Kõkṇi/none.wav")), 0o644)
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	// Both forms of é.wav exist: each line gets the file that it names.
	if want := []float64{0.5, 1, 1.5, 0.5, 1}; !slices.Equal(durations(s), want) || !slices.Equal(s.Report.reported(Missing), []int{6, 7}) {
		t.Errorf("%v, want %v: %v", durations(s), want, s.Report)
	}
	if id := s.At(0).ID; id != "São.wav" {
		t.Errorf("the identity is %q, not the path as written", id)
	}
}

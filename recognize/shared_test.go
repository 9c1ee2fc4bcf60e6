package recognize

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/testkit"
)

// A manifest with lines of every kind that can't be scored: each is left out and named, and all that can't be read are
// treated in one way, whether the header shows it or not.
func TestSharedLinesThatAreLeftOut(t *testing.T) {
	manifest := filepath.Join(testkit.Shared(t), "cases", "tried", "eval-left-out", "test.jsonl")
	m := random(t, described(t), 2)
	var said bytes.Buffer
	var scored []string
	e, report, err := m.Evaluate(t.Context(), manifest, EvaluateOptions{Progress: &said, PerUtterance: func(h Hypothesis) error {
		if h.Err == nil {
			scored = append(scored, filepath.Base(h.Utt.Path()))
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"w00.wav", "w01.wav", "w02.wav", "noise.wav"}; !slices.Equal(scored, want) || e.Score.Utterances != 4 || e.Score.Words.Ref != 3 || e.Failed != 3 {
		t.Errorf("%q are scored, %+v, want %q", scored, e, want)
	}
	if report.Lines != 7 || report.Kept != 4 || report.Count(data.Missing) != 1 || report.Count(data.Unreadable) != 2 || report.Count(data.EmptyText) != 0 {
		t.Errorf("%v", report)
	}
	testkit.MustContain(t, said.String(), "nowhere.wav", "cut.wav", "nan.wav", "WARNING: 17 of 17 letters (100.00 %) are outside the vocabulary")
}

// Whatever is in a file, it gives a text or an error that names it, and the same in any company.
func TestSharedFilesAreTranscribed(t *testing.T) {
	dir := filepath.Join(testkit.Shared(t), "cases", "audio")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	m := random(t, described(t), 2)
	m.log = io.Discard
	together := transcripts(t, m, paths...)
	for i, path := range paths {
		alone := transcripts(t, m, path)[0]
		if together[i] != alone {
			t.Errorf("%s: %q among others, %q alone", path, together[i], alone)
		}
		if strings.HasPrefix(alone, "error: ") {
			testkit.MustContain(t, alone, path)
		}
	}
	result := func(name string) string { return together[slices.Index(paths, filepath.Join(dir, name))] }
	seen := map[string]bool{}
	for _, name := range []string{"empty.wav", "riff_only.wav", "header_only.wav", "no_fmt.wav", "rate_1hz.wav", "samples79.wav"} {
		s := strings.ReplaceAll(result(name), name, "")
		if !strings.HasPrefix(s, "error: ") || seen[s] {
			t.Errorf("%s: %q, want an error of its own", name, s)
		}
		seen[s] = true
	}
	for _, name := range []string{"stereo_same.wav", "u8.wav", "float32.wav", "pcm24.wav", "truncated.wav", "long60s.wav"} {
		if s := result(name); strings.HasPrefix(s, "error: ") {
			t.Errorf("%s: %s", name, s)
		}
	}
}

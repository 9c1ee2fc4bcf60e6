package data

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func mustLoad(t testing.TB, path string, o Options) *Set {
	t.Helper()
	s, err := Load(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSet(t *testing.T) {
	dir := corpus(t, map[string]string{"x.jsonl": lineA + lineC + lineB + strings.Replace(lineB, "बीं", "ींब", 1)})
	s := mustLoad(t, filepath.Join(dir, "x.jsonl"), Options{})
	if s.Seconds() != 4 || !slices.Equal(s.frames(), []int32{50, 150, 100, 100}) {
		t.Errorf("%v, %v", s.Seconds(), s.frames())
	}
	for text := range s.Texts() {
		if text != "वाट" {
			t.Errorf("the first text is %q", text)
		}
		break
	}
	want := "4 of 4 utterances used, 4.0 s (0.50 to 1.50 s each)\n" +
		"  1 used, path listed again without an id: line 4: audio/b.wav, as on line 3; called audio/b.wav#2\n" +
		"  1 text starts with a combining mark; it is used as it is"
	if got := s.Report.String(); !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
}

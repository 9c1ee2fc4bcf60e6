package data

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOverlap(t *testing.T) {
	dir := corpus(t, map[string]string{"train.jsonl": lineA + lineB + lineC, "val.jsonl": lineB, "two.jsonl": lineC + lineA,
		"parts.jsonl":     with(edit(lineB, "1.0", "0.5"), `"offset": 0.5`),
		"other/val.jsonl": lineA, "other/audio/a.wav": string(wav(8000, 16000))})
	train := mustLoad(t, filepath.Join(dir, "train.jsonl"), Options{})
	got := Overlap(train, mustLoad(t, filepath.Join(dir, "val.jsonl"), Options{}))
	if !strings.HasPrefix(got, "1 of 1 utterances of ") || !strings.Contains(got, "audio/b.wav, line 2 there and line 1 here") {
		t.Errorf("%q", got)
	}
	got = Overlap(train, mustLoad(t, filepath.Join(dir, "two.jsonl"), Options{}))
	if !strings.HasPrefix(got, "2 of 2 utterances of ") || !strings.Contains(got, "the first: audio/c.wav, line 3 there and line 1 here") {
		t.Errorf("%q", got)
	}
	// One set by a path from here, the other by one from the root.
	t.Chdir(dir)
	if got := Overlap(train, mustLoad(t, "val.jsonl", Options{})); !strings.HasPrefix(got, "1 of 1 ") {
		t.Errorf("a relative path: %q", got)
	}
	for _, name := range []string{"parts.jsonl", "other/val.jsonl"} {
		if got := Overlap(train, mustLoad(t, filepath.Join(dir, name), Options{})); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

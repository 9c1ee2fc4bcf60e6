package data

import (
	"strings"
	"testing"
)

// What lists an utterance has lines, rows or members; a sound file of a folder is listed nowhere.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		file string
		line int
		want string
	}{
		{"a/train.jsonl", 3, "a/train.jsonl, line 3"},
		{"a/cuts.jsonl.gz", 1, "a/cuts.jsonl.gz, line 1"},
		{"a/x-00000.parquet", 2, "a/x-00000.parquet, row 2"},
		{"shard-000.TAR", 4, "shard-000.TAR, member 4"},
		{"sounds", 0, "sounds"},
	} {
		if got := Where(c.file, c.line); got != c.want {
			t.Errorf("%s, %d: %q, want %q", c.file, c.line, got, c.want)
		}
	}
}

// A report about a folder of sound names files: there are no lines in it.
func TestReportOfSoundFiles(t *testing.T) {
	set, err := Load(t.Context(), noiseFolder(t), Options{SoundOnly: true, SkipBadLines: true, BadLimit: 1})
	if err != nil {
		t.Fatal(err)
	}
	said := set.Report.String() + "\n" + set.Report.Notes[0].String()
	if !strings.Contains(said, "audio can't be read: broken.flac: ") || strings.Contains(said, "line") {
		t.Errorf("got %s", said)
	}
}

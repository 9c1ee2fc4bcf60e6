package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadEquivalents(t *testing.T) {
	for text, want := range map[string]equivalents{
		"":                                  {},
		"# a remark\n\na f: x\n\tbecause\n": {"a f: x": true},
		"a f: x\n  because\n  of this\r\nb g: y  \n\twhy": {"a f: x": true, "b g: y": true},
	} {
		got, err := readEquivalents(write(t, text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: error %v, entries (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"a f: x\n":                       ":1: no reason",
		"# one\na f: x\nb g: y\n\twhy\n": ":2: no reason",
		"a f: x\n\twhy\nb g: y\n\t\n":    ":3: no reason",
		"\twhy\n":                        ":1: a reason without a change",
		"a f: x\n\twhy\na f: x\n\twhy":   ":3: this change has an entry above",
	} {
		if _, err := readEquivalents(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if got, err := readEquivalents(filepath.Join(t.TempDir(), "none")); err != nil || len(got) > 0 {
		t.Errorf("no file: %v, error %v", got, err)
	}
	if _, err := readEquivalents(t.TempDir()); err == nil {
		t.Error("a folder is read as if it were a file")
	}
}

// The repository's own entries have reasons; mutate itself reports those that match nothing.
func TestRepositorysEquivalents(t *testing.T) {
	if _, err := readEquivalents("equivalent.txt"); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "equivalent.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

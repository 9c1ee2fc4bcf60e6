package main

import (
	"os"
	"testing"
)

// A table overwrites tables only; to standard output, or without one, nothing is in the way whatever its name.
func TestTableOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"-": "mine", ".partial": "mine", "notes": "mine", "none": "", "table": tableHead + "a\t0\n", "cut.partial": "mine"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, free := range map[string]bool{"": true, "-": true, "notes": false, "none": true, "table": true, "cut": false, "new": true} {
		if err := newTable(path, nil).free(); (err == nil) != free {
			t.Errorf("%q: %v", path, err)
		}
	}
}

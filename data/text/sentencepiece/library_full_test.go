//go:build sentencepiece

package sentencepiece

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A model that is trained here is left in the folder that KONKANITRAIN_SENTENCEPIECE names, for the library to apply.
func TestTrainForTheLibrary(t *testing.T) {
	b, err := os.ReadFile(os.Getenv("KONKANITRAIN_SENTENCES"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := TrainBPE(slices.Values(strings.Split(string(b), "\n")), 1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("KONKANITRAIN_SENTENCEPIECE"), "trained.model"), m.File(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The same for larger models and many sentences, in that folder: make.py makes it.
func TestAsTheLibraryInFull(t *testing.T) {
	n := asTheLibrary(t, os.Getenv("KONKANITRAIN_SENTENCEPIECE"), 9)
	if n < 90000 {
		t.Errorf("%d cases, want 10,000 sentences for each of 9 models", n)
	}
	t.Log(n, "cases")
}

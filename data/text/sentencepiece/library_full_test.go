//go:build sentencepiece

package sentencepiece

import (
	"os"
	"testing"
)

// The same for larger models and many sentences, in the folder that KONKANITRAIN_SENTENCEPIECE names: make.py makes it.
func TestAsTheLibraryInFull(t *testing.T) {
	n := asTheLibrary(t, os.Getenv("KONKANITRAIN_SENTENCEPIECE"))
	if n < 80000 {
		t.Errorf("%d cases, want 10,000 sentences for each of 8 models", n)
	}
	t.Log(n, "cases")
}

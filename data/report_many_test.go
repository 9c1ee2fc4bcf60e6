package data

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Of very many notes of a kind the first are kept, and all are counted, named and held to the limit.
func TestManyNotes(t *testing.T) {
	const n = 3 * notesKept
	var b strings.Builder
	for range n {
		b.WriteString(lineA)
	}
	for i := range n {
		fmt.Fprintf(&b, `{"audio_filepath": "no/%d.wav", "text": "x"}`+"\n", i)
	}
	path := filepath.Join(corpus(t, map[string]string{"x.jsonl": b.String()}), "x.jsonl")
	s := mustLoad(t, path, Options{BadLimit: 0.6})
	r := s.Report
	if s.Len() != n || r.Count(RepeatedSource) != n-1 || r.CountOf(RepeatedSource, false) != n-1 || r.CountOf(Missing, true) != n || len(r.Notes) != 2*notesKept {
		t.Errorf("%d used, %d and %d noted, %d kept", s.Len(), r.Count(RepeatedSource), r.Count(Missing), len(r.Notes))
	}
	for _, part := range []string{
		fmt.Sprintf("%d skipped, audio file not found:\n    line %d: ", n, n+1), fmt.Sprintf("and %d more", n-named),
		fmt.Sprintf("%d used, path listed again without an id:\n    line 2: audio/a.wav, as on line 1; called audio/a.wav#2", n-1),
	} {
		if !strings.Contains(r.String(), part) {
			t.Errorf("%q isn't in %v", part, r)
		}
	}
	if id := s.ID(n - 1); id != fmt.Sprintf("audio/a.wav#%d", n) || s.At(n-1).Key != s.key(n-1) {
		t.Errorf("the last is %s", id)
	}
	if _, err := Load(context.Background(), path, Options{BadLimit: 0.4}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d of %d lines are bad", n, 2*n)) {
		t.Errorf("%v", err)
	}
	if o := s.Outcome(); o.Count(Missing) != n || o.Kept != n {
		t.Errorf("%v", o)
	}
}

package train

import (
	"bytes"
	"strings"
	"testing"
)

// mustContainOnce holds a text to what it has to say, and to not saying it again.
func mustContainOnce(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if n := strings.Count(text, p); n != 1 {
			t.Errorf("it says %q %d times, want once:\n%s", p, n, text)
		}
	}
}

// Each set's report comes once and holds what is known only with the vocabulary: letters outside of it, and
// utterances that CTC can't align although a decoder keeps them.
func TestReportsAreComplete(t *testing.T) {
	lines := append(babble(8, 4, 1), spoken{id: "hasty", text: "abababab", samples: 2 * perLetter})
	val := append(babble(4, 4, 2), spoken{id: "odd", text: "abz"}, spoken{id: "quick", text: "abcdabcd", samples: 2 * perLetter})
	for decoder, kept := range []string{"8 of 9 utterances used", "9 of 9 utterances used"} {
		cfg := plain(tiny(t, speak(t, lines...)))
		cfg.Model.DecoderLayers, cfg.Data.ValManifest, cfg.Data.UnknownLimit = decoder, speak(t, val...), 0.5
		var said bytes.Buffer
		run := start(t, cfg, &said)
		mustContainOnce(t, said.String(), kept, "6 of 6 utterances used", "hasty: needs 8", "quick: needs 8", `are outside the vocabulary: "z" x 1`)
		if decoder == 0 {
			continue
		}
		if err := run.save(); err != nil {
			t.Fatal(err)
		}
		rec, err := Load(cfg.Run.CheckpointDir, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Close()
		said.Reset()
		if _, err := rec.Evaluate(t.Context(), cfg.Data.ValManifest, EvalOptions{Progress: &said}); err != nil {
			t.Fatal(err)
		}
		mustContainOnce(t, said.String(), "6 of 6 utterances used", "quick: needs 8", `are outside the vocabulary: "z" x 1`)
	}
}

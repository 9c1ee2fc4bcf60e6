package train

import (
	"bytes"
	"testing"

	"konkanitrain/internal/testkit"

	"github.com/schollz/progressbar/v3"
)

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
		if err := run.ledger.save(true); err != nil {
			t.Fatal(err)
		}
		_, scored := mustScore(t, mustLoad(t, cfg.Run.CheckpointDir), cfg.Data.ValManifest)
		mustContainOnce(t, scored, "6 of 6 utterances used", "quick: needs 8", `are outside the vocabulary: "z" x 1`)
	}
}

// On a terminal updates move a bar, and lines come above it; nobody needs to look at a plain line for each update.
func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	r := newReporter(&out)
	r.bar = progressbar.NewOptions(10, progressbar.OptionSetWriter(&out))
	r.update(3, nil)
	r.update(4, &updateMetrics{Update: 4, Epoch: 2, Loss: 1.5})
	r.say("a word")
	r.close()
	testkit.MustContain(t, out.String(), "epoch 2  loss 1.500", "a word\n")
	mustNotContain(t, out.String(), "update 4")
	if s := r.bar.State(); s.CurrentNum != 10 {
		t.Errorf("the bar ends at %d", s.CurrentNum)
	}
	plain := newReporter(nil) // nobody
	plain.update(1, &updateMetrics{})
	plain.close()
}

package train

import (
	"fmt"
	"math"
	"testing"

	"konkanitrain/internal/testkit"
)

// A weight that turns NaN stops the run, is named, and never reaches a checkpoint, wherever it is: in a
// matrix, in a bias, or where no utterance uses it (no text has an <unk> to look up).
func TestNaNWeightStopsTheRun(t *testing.T) {
	manifest := speak(t, babble(8, 4, 1)...)
	for name, at := range map[string]int{
		"encoder.blocks.1.ffn1.up.weight": 7, "encoder.subsample.conv.0.bias": 0, "decoder.embed.weight": 2 * 16, "ctc.bias": 0,
	} {
		for _, fp16 := range []bool{false, true} {
			cfg := plain(tiny(t, manifest))
			cfg.Run.SaveEvery, cfg.Run.FP16 = 3, fp16
			r := start(t, cfg, nil)
			r.hook = atUpdate(4, func() { edit(t, r, name, func(w []float32) { w[at] = nan }) })
			err := r.loop(t.Context())
			testkit.MustFail(t, err, fmt.Sprintf("weight %s[", name), "is NaN after update")
			mustNotContain(t, err.Error(), "saved in")
			if seen := r.ledger.state.Progress.Utterances / int64(cfg.Window()); r.updater.Updates > 6 || seen > 7 {
				t.Errorf("%s: it was found after %d windows and %d updates", name, seen, r.updater.Updates)
			}
			mustHave(t, cfg.Run.CheckpointDir, 3)
		}
	}
}

// A weight that turned NaN just before a save is not saved: neither where save_every asks for one, nor at the end, nor
// after an interruption.
func TestNaNIsNotSaved(t *testing.T) {
	for _, every := range []int{1, 100} {
		cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
		cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = every, 4
		r := start(t, cfg, nil)
		r.hook = func(update int) {
			if update == 4 || every == 1 && update == 3 {
				edit(t, r, "ctc.weight", func(w []float32) { w[2] = float32(math.Inf(-1)) })
			}
		}
		err := r.loop(t.Context())
		if err == nil {
			err = r.finish(t.Context())
		}
		if every == 1 {
			testkit.MustFail(t, err, "weight ctc.weight[2] is -Inf after update 3")
			mustHave(t, cfg.Run.CheckpointDir, 1, 2)
		} else {
			testkit.MustFail(t, err, "weight ctc.weight[2] is -Inf after update 4")
			mustHave(t, cfg.Run.CheckpointDir)
		}
		testkit.MustFail(t, r.interrupted(), "interrupted, and the state is not saved: weight ctc.weight[2] is -Inf")
	}
}

//go:build gpu

package train

import (
	"errors"
	"fmt"
	"regexp"
	"testing"

	"konkanitrain/device/cuda/simulated"
	"konkanitrain/internal/testkit"
)

// aDriverCall is the name of a call of the driver or of cuBLAS.
var aDriverCall = regexp.MustCompile(`\b(cu[A-Z]|cublas)[A-Za-z]+`)

// A simulated card's context is lost in the middle of a run, at one driver call after the other: all of an update, and
// some of those that capture graphs, validate, copy and save. Nothing that was saved is lost, and of what was learned
// no more than the update at hand; the error names the call; the run that goes on is, bit for bit, the undisturbed one.
func TestSimulatedCardFailsAnywhere(t *testing.T) {
	cfg, l := onSimulated(t, alike(t, 6000))
	cfg.Model.DecoderLayers, cfg.Model.CTCWeight = 0, 1
	cfg.Optimizer.BatchSize, cfg.Optimizer.MaxUpdates, cfg.Optimizer.EMADecay = 2, 4, 0.9
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Run.SnapshotEvery, cfg.Run.CacheClearEvery = 3, 2, 1, 1
	control := l.Control(t)

	// The calls of each part of a run, from the first copy on.
	type part struct {
		update int // being made, or made before
		making bool
		calls  int
	}
	var parts []part
	straight := elsewhere(t, cfg)
	r := start(t, straight, nil)
	at := control.Count(simulated.Any)
	note := func(update int, making bool) {
		now := control.Count(simulated.Any)
		if update > 1 {
			parts = append(parts, part{update, making, int(now - at)})
		}
		at = now
	}
	r.hook = func(update int) { note(update, true) }
	r.served = func(update int) { note(update, false) }
	mustEnd(t, r)
	note(cfg.Optimizer.MaxUpdates, false)
	r.close()
	t.Log("parts of a run and their calls:", parts)

	first := 0 // calls before the part
	for _, p := range parts {
		step := max(1, p.calls/3)
		if p.making && p.update == 4 {
			step = 1
		}
		for n := first + 1; n <= first+p.calls; n += step {
			c := elsewhere(t, cfg)
			r := start(t, c, nil)
			saved := 0
			r.served = func(update int) {
				if saved = r.ledger.onDisk; update == 1 {
					control.Fail(simulated.Fault{Call: simulated.Any, N: n, Code: 719, Sticky: true})
				}
			}
			err := r.ending(t.Context())
			control.Forgive()
			r.close()
			if err == nil && p.update == 4 && !p.making { // all was done: a memory figure is not to be had
				mustEqualRun(t, c.Run.CheckpointDir, straight.Run.CheckpointDir, 4)
				continue
			}
			what := fmt.Sprintf("call %d after the first copy, in %+v", n, p)
			if !errors.Is(err, ErrCardLost) || !aDriverCall.MatchString(err.Error()) {
				t.Errorf("%s: %v", what, err)
				continue
			}
			testkit.MustContain(t, err.Error(), "the card failed: ", "719", "made again: konkanitrain --checkpoint_dir "+c.Run.CheckpointDir+" --resume auto")
			if p.making {
				saved = p.update - 1
			}
			if on := r.ledger.onDisk; on < saved || on < 1 {
				t.Errorf("%s: update %d is saved, want %d: %v", what, on, saved, err)
			}
			mustRun(t, withResume(c))
			mustEqualRun(t, c.Run.CheckpointDir, straight.Run.CheckpointDir, 4)
			if t.Failed() {
				t.Fatalf("%s: %v", what, err)
			}
		}
		first += p.calls
	}
}

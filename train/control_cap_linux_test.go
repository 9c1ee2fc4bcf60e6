package train

import (
	"testing"

	"konkanitrain/internal/control"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/words"
)

// A cap below what a run holds has it give memory back at once, and it goes on with what is left.
func TestRunIsCapped(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(16, 4, 1)...)))
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.MaxUpdates = 8, 1, 6
	r := start(t, cfg, nil)
	u, arenas, base := r.pool.Usage(), r.replica.Usage().Arenas, machine.Read().Base()
	want := u.Reserved + u.Held - arenas/3
	answer := askAt(t, r, 2, control.Request{Ask: control.AskFraction, Fraction: float64(want) / float64(base)})
	mustEnd(t, r)
	a := <-answer
	if a.err != nil || !a.Done {
		t.Fatalf("%+v, %v", a.Response, a.err)
	}
	testkit.MustContain(t, a.Note, "the cap is "+words.Bytes(a.Info.Limit)+": ")
	i := a.Info
	if off := i.Limit - want; off < -1 || off > 1 || i.Reserved+i.Held > i.Limit || a.Before.Limit <= i.Limit { // the share is rounded
		t.Errorf("%+v, want a cap of %d", i, want)
	}
	if i.PeakReserved < i.Reserved+i.Held || i.Peak < i.Allocated {
		t.Errorf("peaks below what is held: %+v", i)
	}
	if now := r.pool.Usage(); r.updater.Updates != 6 || now.Reserved+now.Held > i.Limit || now.PeakReserved > u.PeakReserved {
		t.Errorf("%d updates, %+v, and before %+v", r.updater.Updates, now, u)
	}
}

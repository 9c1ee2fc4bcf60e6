package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
)

// A profile counts the updates of its own session, shows what it has when the run ends or is stopped before, and
// leaves nothing behind.
func TestProfileOfAShortRun(t *testing.T) {
	cfg := plain(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.ProfileSteps, cfg.Optimizer.NumEpochs = 50, 1
	nothing := func() {
		t.Helper()
		if entries, err := os.ReadDir(cfg.Run.CheckpointDir); err != nil || len(entries) > 0 {
			t.Errorf("it left %v, %v", entries, err)
		}
	}
	var said bytes.Buffer
	if _, err := Run(t.Context(), cfg, Options{Out: &said}); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, said.String(), "profile: 2 of 50 updates were made: all epochs are done", "attention", "linear")
	nothing()

	said.Reset()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cfg.Optimizer.NumEpochs = 100
	run := start(t, cfg, &said)
	run.hook = func(update int) {
		if update == 3 {
			stop()
		}
	}
	if err := run.loop(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrInterrupted) {
		t.Errorf("stopped: %v, want a plain stop without a word of a saved state", err)
	}
	testkit.MustContain(t, said.String(), "profile: 3 of 50 updates were made: interrupted", "attention")
	nothing()

	cfg = once(t, plain(tiny(t, speak(t, babble(8, 4, 1)...))))
	cfg.Run.ProfileSteps, cfg.Optimizer.MaxUpdates = 2, 0
	said.Reset()
	r, err := Run(t.Context(), cfg, Options{Out: &said})
	if err != nil || r.Updates != 4 {
		t.Fatalf("%+v, %v: want 2 updates after the first 2", r, err)
	}
	testkit.MustContain(t, said.String(), "attention")
	if strings.Contains(said.String(), "were made") {
		t.Errorf("it is complete:\n%s", said.String())
	}
	if entries, _ := checkpoint.List(cfg.Run.CheckpointDir); len(entries) != 2 {
		t.Errorf("it changed the checkpoints: %v", entries)
	}
}

// A profile of a run that has ended says that there is nothing to measure, and shows no table.
func TestProfileOfAFinishedRun(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	cfg.Run.ProfileSteps, cfg.Optimizer.MaxUpdates = 5, 2
	said := mustRun(t, cfg)
	mustContainOnce(t, said, "profile: 0 of 5 updates were made: max_updates 2 is reached")
	mustNotContain(t, said, "linear", "limits of one core")
	mustHave(t, cfg.Run.CheckpointDir, 1, 2)
}

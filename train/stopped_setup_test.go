package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/checkpoint"
)

// stopAt ends a context when a text is written to it.
type stopAt struct {
	text string
	stop func()
	said bytes.Buffer
}

func (s *stopAt) Write(b []byte) (int, error) {
	s.said.Write(b)
	if bytes.Contains(s.said.Bytes(), []byte(s.text)) {
		s.stop()
	}
	return len(b), nil
}

// A run that is stopped while its memory is planned compiles no program any more, has not begun, and saves nothing. The
// checkpoint that it would have gone on from stays as it is.
func TestStoppedWhilePlanning(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Optimizer.MaxUpdates, cfg.Run.SaveEvery = 2, 2
	stopped := func(cfg Config) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		out := &stopAt{text: "model: ", stop: stop} // is said right before
		_, err := Run(ctx, cfg, Options{Out: out, Begun: func() { t.Error("it has begun") }})
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrInterrupted) {
			t.Errorf("the run ended with %v, want the context's error", err)
		}
		mustNotContain(t, out.said.String(), "memory: ")
	}
	stopped(cfg)
	if list, err := checkpoint.List(cfg.Run.CheckpointDir); err != nil || len(list) > 0 {
		t.Errorf("%v are saved, %v", list, err)
	}
	mustRun(t, cfg)
	before, err := os.ReadFile(filepath.Join(cfg.Run.CheckpointDir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	again := withResume(cfg)
	again.Optimizer.MaxUpdates += 2
	stopped(again)
	if after, err := os.ReadFile(filepath.Join(cfg.Run.CheckpointDir, "metrics.jsonl")); err != nil || !bytes.Equal(after, before) {
		t.Errorf("metrics.jsonl has changed: %v", err)
	}
	mustHave(t, cfg.Run.CheckpointDir, 2)
}

// A plan ends with its context too.
func TestStoppedPlan(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	cfg := Default()
	if _, err := Plan(ctx, cfg, PlanOptions{Seconds: 2, TokensPerSecond: 5, Memory: 1 << 34}); !errors.Is(err, context.Canceled) {
		t.Errorf("the plan ended with %v", err)
	}
}

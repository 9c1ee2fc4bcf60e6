package train

import (
	"errors"
	"testing"

	"konkanitrain/internal/testkit"
)

// Of a network whose weights alone are over the limit nothing is compiled: the numbers say why it can't fit.
func TestPlanOfAHugeNetwork(t *testing.T) {
	cfg := Default()
	cfg.Model.EncoderLayers, cfg.Model.DecoderLayers = 1000, 1000
	_, err := Plan(t.Context(), cfg, PlanOptions{Seconds: 8, TokensPerSecond: 10, Memory: 8 << 30})
	testkit.MustFail(t, err, "it doesn't fit: the weights, gradients and moments of ", " parameters alone take ", "GiB, and 8.00 GiB are allowed (as --memory says)")
}

// Nor does a run allocate the first of its buffers, which may fit.
func TestRunOfAHugeNetwork(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Model.DModel, cfg.Model.EncoderLayers, cfg.Run.MemoryLimit = 256, 200, "1GiB"
	_, err := Run(t.Context(), cfg, Options{})
	testkit.MustFail(t, err, "it doesn't fit: the weights, gradients and moments of ", "and 1.00 GiB are allowed (memory_limit)")
	if !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("the error %v is not of memory", err)
	}
}

// A share of the memory that comes to no byte is a limit all the same.
func TestPlanOfNoMemory(t *testing.T) {
	cfg := Default()
	cfg.Model.EncoderLayers, cfg.Model.DecoderLayers, cfg.Run.MemoryFraction = 1, 0, 1e-12
	r, err := Plan(t.Context(), cfg, PlanOptions{Seconds: 1, TokensPerSecond: 5, Memory: 1 << 30})
	if err != nil || r.Verdict != TooLarge || r.Limit != 1 {
		t.Errorf("%+v, %v, want a limit of 1 byte, which is too little", r, err)
	}
}

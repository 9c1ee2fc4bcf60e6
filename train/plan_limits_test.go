package train

import "testing"

// A share of the memory that comes to no byte is a limit all the same.
func TestPlanOfNoMemory(t *testing.T) {
	cfg := Default()
	cfg.Model.EncoderLayers, cfg.Model.DecoderLayers, cfg.Run.MemoryFraction = 1, 0, 1e-12
	r, err := Plan(t.Context(), cfg, PlanOptions{Seconds: 1, TokensPerSecond: 5, Memory: 1 << 30})
	if err != nil || r.Verdict != TooLarge || r.Limit != 1 {
		t.Errorf("%+v, %v, want a limit of 1 byte, which is too little", r, err)
	}
}

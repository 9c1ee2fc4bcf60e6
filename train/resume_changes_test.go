package train

import (
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/op"
)

// Other kernels round differently: a run that goes on with them says so, and one that goes on with the same does not.
func TestResumeWithOtherKernels(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 4, 1)...))
	cfg.Optimise.MaxUpdates = 1
	mustRun(t, cfg)
	cfg.Run.Resume = "auto"
	resumed := func() string {
		var said strings.Builder
		run, err := setUp(t.Context(), cfg, &said)
		if err != nil {
			t.Fatal(err)
		}
		run.close()
		return said.String()
	}
	if said := resumed(); strings.Contains(said, "kernels") {
		t.Errorf("the kernels are the same, and it says:\n%s", said)
	}
	rewrite(t, cfg.Run.CheckpointDir, func(s *state, _, _ []checkpoint.Tensor) ([]checkpoint.Tensor, []checkpoint.Tensor) {
		s.Progress.Kernels = "abacus"
		return nil, nil
	})
	mustContain(t, resumed(), "NOTE: this run computes with the kernels "+op.Kernels()+", the checkpoint comes from one with abacus")
}

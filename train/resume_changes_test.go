package train

import (
	"errors"
	"io"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/op"
)

// Other kernels round differently: a run that goes on with them says so, and one that goes on with the same does not.
func TestResumeWithOtherKernels(t *testing.T) {
	cfg := tiny(t, speak(t, babble(12, 4, 1)...))
	cfg.Optimise.MaxUpdates = 1
	run := start(t, cfg, io.Discard)
	if err := errors.Join(run.loop(t.Context()), run.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
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
	run.state.Progress.Kernels = "abacus"
	m, v := run.optimizer.moments[0].Floats(), run.optimizer.moments[1].Floats()
	if _, err := checkpoint.Save(cfg.Run.CheckpointDir, 1, run.tensors("", run.weights.Floats()),
		append(run.tensors("m.", m), run.tensors("v.", v)...), &run.state); err != nil {
		t.Fatal(err)
	}
	mustContain(t, resumed(), "NOTE: this run computes with the kernels "+op.Kernels()+", the checkpoint comes from one with abacus")
}

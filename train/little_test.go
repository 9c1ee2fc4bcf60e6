package train

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/safetensors"
	"konkanitrain/internal/testkit"
)

// little is a run with every option for training on little data.
func little(t testing.TB) Config {
	c := tiny(t, speak(t, babble(12, 8, 1)...))
	c.Model.InterCTCWeight, c.Model.CTCSmoothing, c.Model.StochasticDepth, c.Model.BlankBias = 0.4, 0.1, 0.3, -1
	c.Model.DropoutOf = []string{"encoder.subsample=0", "encoder.blocks.*.attn=0.3"}
	c.Optimizer.WeightDecayOf = []string{"decoder=0.1", "*.blocks.*.ffn1=0"}
	return c
}

// With all options for little data a run that was interrupted is the straight one to the bit; its parts are said, its
// model's description has what it was trained with, and is used as any other.
func TestResumeOfARunOnLittleData(t *testing.T) {
	straight := little(t)
	straight.Optimizer.MaxUpdates = 4
	broken := elsewhere(t, straight)
	testkit.MustContain(t, mustRun(t, straight), "weight_decay 0: encoder.blocks.0-1.ffn1", "weight_decay 0.1: decoder",
		"dropout 0: encoder.subsample", "dropout 0.3: encoder.blocks.0-1.attn")
	broken.Optimizer.MaxUpdates = 2
	mustRun(t, broken)
	broken.Optimizer.MaxUpdates = 4
	mustRun(t, withResume(broken))
	mustEqualRun(t, broken.Run.CheckpointDir, straight.Run.CheckpointDir, 4)

	got := mustLoad(t, filepath.Join(straight.Run.CheckpointDir, checkpoint.Name(4))).Description.Network
	if want := straight.Network(got.Vocab); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the network is described as %+v, want %+v", got, want)
	}
	// A run without them describes its network as it always was.
	settings := tiny(t, straight.Data.TrainManifest[0])
	settings.Optimizer.MaxUpdates = 1
	mustRun(t, settings)
	m, err := safetensors.Open(filepath.Join(settings.Run.CheckpointDir, checkpoint.Name(1), checkpoint.ModelFile))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, key := range []string{"inter_ctc", "ctc_smoothing", "stochastic", "blank_bias", "dropout_of"} {
		if strings.Contains(fmt.Sprint(m.Metadata()), key) {
			t.Errorf("the description has %s, which is off", key)
		}
	}
}

// A plan of such a run is what it holds, to the byte.
func TestPlanOfARunOnLittleData(t *testing.T) {
	c := little(t)
	plan := mustPlan(t, c, PlanOptions{})
	checkHeld(t, "little data", plan.AsSet, startBuffersOnly(t, elsewhere(t, c)))
	plain := c
	plain.Model.InterCTCWeight = 0
	if without := mustPlan(t, plain, PlanOptions{}); without.AsSet.Arena >= plan.AsSet.Arena {
		t.Errorf("with intermediate CTC an arena has %d bytes, without %d", plan.AsSet.Arena, without.AsSet.Arena)
	}
}

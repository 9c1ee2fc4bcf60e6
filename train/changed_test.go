package train

import (
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
)

// The settings of a training are told where they are not the defaults, and but for its machine and the names of files.
func TestChanged(t *testing.T) {
	c := Default()
	saved := func() []byte {
		b, err := c.settings()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if lines, err := Changed(saved()); err != nil || len(lines) != 0 {
		t.Errorf("of the defaults %v are told (%v)", lines, err)
	}
	c.Data.TrainManifest, c.Data.HighHz, c.Data.Speeds, c.Model.DModel = []string{"secret/train.jsonl"}, -400, []float64{1}, 64
	c.Run.CheckpointDir, c.Run.Seed, c.Run.CPUWorkers, c.Optimizer.LearningRate = "elsewhere", 7, 3, 0.5
	lines, err := Changed(saved())
	if want := []string{"d_model: 64", "high_hz: -400", "learning_rate: 0.5", "seed: 7", "speeds: [1]"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v (%v), want %v", lines, err, want)
	}
	// Of an older or a newer program's settings those are told that are known here.
	if lines, err := Changed([]byte(`{"d_model": 3, "of_tomorrow": 1}`)); err != nil || !slices.Equal(lines, []string{"d_model: 3"}) {
		t.Errorf("%v (%v)", lines, err)
	}
	_, err = Changed([]byte("{"))
	testkit.MustFail(t, err, "the checkpoint's settings")
}

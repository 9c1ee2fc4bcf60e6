package train

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// Every model.safetensors that a run writes describes itself: copied elsewhere, without the rest of its checkpoint,
// it is recognized with as it was validated in the run.
func TestModelsDescribeThemselves(t *testing.T) {
	cfg := averaging(t)
	cfg.Data.ValManifest, cfg.Run.EvalEvery, cfg.Run.KeepLast = []string{speak(t, babble(4, 3, 2)...)}, 2, 9
	cfg.Data.Normalize, cfg.Data.FoldDigits, cfg.Data.UnknownLimit = "global", true, 1
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	mustHave(t, dir, 1, 2, 3, 4, 5)
	check := func(dir string, step int, mean []int) {
		t.Helper()
		_, _, s := readCheckpoint(t, dir, step)
		path := alone(t, dir, step)
		d, err := recognize.Describe(path)
		if err != nil {
			t.Fatal(err)
		}
		want := &recognize.Description{
			Network: cfg.Network(s.Vocabulary.Size()), Features: cfg.Features(s.Stats), Vocabulary: s.Vocabulary, Policy: cfg.Policy(), Phrases: s.Phrases,
			Update: step, MeanOf: mean, Score: s.Score,
		}
		got, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := want.Encode()
		if diff := cmp.Diff(encoded, got); diff != "" || err != nil {
			t.Errorf("update %d: %s %v", step, diff, err)
		}
		if s.Score == nil || s.Judged != step && mean == nil {
			return
		}
		e, _ := mustScore(t, mustLoad(t, path), cfg.Data.ValManifest[0])
		apart := math.Abs(float64(e.Loss - s.Score.Loss)) // the run's batches are others
		if !(apart <= testkit.Products(1.5e-6)*float64(e.Loss)) || e.Score.String() != s.Score.Score.String() {
			t.Errorf("update %d: it scores %v, in the run it was %v", step, e, s.Score)
		}
	}
	for _, step := range []int{1, 2, 3, 4, 5} {
		check(dir, step, nil)
	}
	averaged := filepath.Join(dir, recognize.AveragedDir)
	check(averaged, 5, []int{3, 4, 5})
	if same := slices.Equal(weightsOf(t, alone(t, averaged, 5)), weightsOf(t, filepath.Join(dir, checkpoint.Name(5)))); same {
		t.Error("the mean is the last one's weights")
	}
}

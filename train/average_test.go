package train

import (
	"path/filepath"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
)

// TestAverage: the averaged checkpoint holds the mean of the last ones, element by element, and a recogniser loads it.
func TestAverage(t *testing.T) {
	cfg := tiny(t, speak(t, spoken{id: "a", text: "abcd"}, spoken{id: "b", text: "dcba"}))
	cfg.Run.SaveEvery, cfg.Run.KeepLast, cfg.Run.AverageLast, cfg.Optimise.MaxUpdates = 1, 4, 3, 5
	if _, err := Run(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	r, err := Load(filepath.Join(cfg.Run.CheckpointDir, averagedDir), LoadOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	entries, err := checkpoint.List(cfg.Run.CheckpointDir)
	if err != nil || len(entries) < 3 {
		t.Fatal(entries, err)
	}
	mean, one := make([]float32, r.layout.Words), make([]float32, r.layout.Words)
	for _, e := range entries[len(entries)-3:] {
		c, err := checkpoint.Open(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.LoadModel(r.tensors("", one)); err != nil {
			t.Fatal(err)
		}
		for i, v := range one {
			mean[i] += v / 3
		}
	}
	// Three roundings a sum, in float32.
	testkit.Close(t, "averaged weights", r.weights.Floats(), mean, 3e-7)
}

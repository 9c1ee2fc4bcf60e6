package train

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
)

// historyOf reads the history of a checkpoint of a run.
func historyOf(t *testing.T, dir string, update int) *History {
	t.Helper()
	c, err := checkpoint.Open(filepath.Join(dir, checkpoint.Name(update)))
	if err != nil {
		t.Fatal(err)
	}
	h, err := ReadHistory(c.RawState())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A checkpoint says what it was trained on and how; the run has its scores, also in a log_dir of its own, each once
// after a resume.
func TestHistory(t *testing.T) {
	manifest := speak(t, babble(10, 4, 1)...)
	cfg := small(tiny(t, manifest))
	cfg.Data.ValManifest, cfg.Data.TestManifest = []string{manifest}, []string{manifest}
	cfg.Run.SaveEvery, cfg.Run.EvalEvery, cfg.Optimizer.MaxUpdates, cfg.Run.LogDir = 1, 2, 4, filepath.Join(t.TempDir(), "logs")
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	h := historyOf(t, dir, 4)
	windows := math.Ceil(10 / float64(cfg.Window()))
	if h.Updates != 4 || h.Size != 10 || !(h.Sound > 0) || h.Train[0] != manifest || h.Validate[0] != manifest || h.Epochs != 4/windows || h.Planned != cfg.Optimizer.NumEpochs ||
		h.Heard == 0 || h.Workers == 0 || h.Kernels == "" || h.Best == nil || h.BestUpdate == 0 {
		t.Errorf("%+v", h)
	}
	if want := fmt.Sprintf("d_model: %d", cfg.Model.DModel); !slices.Contains(h.Settings, want) {
		t.Errorf("%q has no %s", h.Settings, want)
	}
	check := func(list []RunScore, err error, updates ...int) {
		t.Helper()
		var got []int
		for _, s := range list {
			got = append(got, s.Update)
			if s.WER <= 0 || !(s.Loss > 0) {
				t.Errorf("%+v", s)
			}
		}
		if err != nil || !slices.Equal(got, updates) {
			t.Errorf("%v, %v, want %v", got, err, updates)
		}
	}
	list, err := h.Scores(dir)
	check(list, err, 2, 4, 0)
	if last := list[2]; last.Event != "test" || last.Weights == "" {
		t.Errorf("%+v", last)
	}
	cfg.Optimizer.MaxUpdates = 6
	mustRun(t, withResume(cfg))
	list, err = historyOf(t, dir, 6).Scores(dir)
	check(list, err, 2, 4, 6, 0)
	// One that was moved is found without its records.
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	list, err = historyOf(t, moved, 6).Scores(moved)
	check(list, err)
}

// What older checkpoints don't record is empty; one text was what lists are now. A state that is none is an error.
func TestHistoryOfOldCheckpoints(t *testing.T) {
	h, err := ReadHistory(json.RawMessage(`{"format":1,"config":{"train_manifest":"a.jsonl","val_manifest":"","d_model":96,"num_epochs":5},
		"vocabulary":null,"progress":{"updates":7,"epoch":2,"window":1}}`))
	if err != nil || !slices.Equal(h.Train, []string{"a.jsonl"}) || h.Validate != nil || h.Size != 0 || h.Sound != 0 || h.Epochs != 2 || h.Planned != 5 ||
		!slices.Contains(h.Settings, "d_model: 96") || h.Best != nil {
		t.Errorf("%+v, %v", h, err)
	}
	_, err = ReadHistory(json.RawMessage(`{"config":[]}`))
	testkit.MustFail(t, err, "the checkpoint's configuration")
	_, err = ReadHistory(json.RawMessage(`{"progress":1}`))
	testkit.MustFail(t, err, "the checkpoint's state")
}

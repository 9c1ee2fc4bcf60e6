package train

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// Files that can't be read any more are named; the score is that of the others.
func TestValidationNamesFilesThatFail(t *testing.T) {
	manifest := speak(t, babble(4, 4, 1)...)
	cfg := plain(tiny(t, manifest))
	cfg.Data.ValManifest = []string{manifest}
	var said bytes.Buffer
	r := start(t, cfg, &said)
	spoil(t, manifest, "002.wav")
	for range 2 {
		if err := r.validate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s := r.ledger.state; s.BestStep != 0 || s.Best == nil || s.Best.Failed != 1 || s.Stale != 1 {
		t.Fatalf("best: %+v", s.Best)
	}
	mustContainOnce(t, said.String(), "WARNING: 1 file of "+manifest+" can't be read any more", "utt02", "002.wav")
	testkit.MustContain(t, said.String(), "1 file failed  (best so far)")
}

// A validation that could read nothing is neither better nor worse than another.
func TestValidationWithoutAnyFile(t *testing.T) {
	manifest := speak(t, babble(4, 4, 1)...)
	cfg := plain(tiny(t, manifest))
	cfg.Data.ValManifest, cfg.Run.BlankAlarm = []string{manifest}, 0
	var said bytes.Buffer
	r := start(t, cfg, &said)
	for i := range 4 {
		if err := os.Remove(filepath.Join(filepath.Dir(manifest), fmt.Sprintf("%03d.wav", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.ledger.state.Best != nil || r.ledger.state.Stale != 0 {
		t.Errorf("it counts: %+v", r.ledger.state.judgment)
	}
	testkit.MustContain(t, said.String(), "not counted: none of the files can be read", "WARNING: 4 files of")
	mustNotContain(t, said.String(), "ALARM") // files that are not there say nothing about blanks
}

// A model hears with the features of its training, global statistics included: loaded anew it scores as it did in the
// run, and a resume takes the statistics over.
func TestModelScoresAsTraining(t *testing.T) {
	manifest := speak(t, babble(6, 5, 1)...)
	cfg := plain(tiny(t, manifest))
	cfg.Data.Normalize, cfg.Run.Seed, cfg.Optimizer.MaxUpdates, cfg.Data.ValManifest = "global", 1<<63+3, 2, []string{manifest}
	r := start(t, cfg, nil)
	edit(t, r, "ctc.bias", func(w []float32) { w[0] = -1 }) // so that something comes out
	mustEnd(t, r)
	trained := r.ledger.state
	r.close()
	r = start(t, withResume(cfg), nil)
	if s := r.ledger.state.Stats; !slices.Equal(s.Mean, trained.Stats.Mean) || !slices.Equal(s.Deviation, trained.Stats.Deviation) {
		t.Error("the statistics changed with the resume")
	}
	r.close()
	other := withResume(cfg)
	other.Data.TrainManifest = []string{speak(t, babble(9, 5, 8)...)}
	r = start(t, other, nil)
	if !slices.Equal(r.ledger.state.Stats.Mean, trained.Stats.Mean) {
		t.Error("the statistics are those of another set")
	}
	r.close()
	m, err := recognize.Load(cfg.Run.CheckpointDir, recognize.LoadOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if e, _ := mustScore(t, m, manifest); e.Score.EmptyHyps == 6 || e.Loss != trained.Score.Loss || e.Score.String() != trained.Score.Score.String() {
		t.Errorf("%v, training said %v", e, trained.Score)
	}
}

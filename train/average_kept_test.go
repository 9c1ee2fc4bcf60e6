package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
)

// An average outlives the checkpoints that it was made of: a finished run that is started once more keeps it, and
// scores the test set with it, unless a fuller one can be made.
func TestAverageIsKept(t *testing.T) {
	cfg := averaging(t)
	cfg.Run.KeepLast, cfg.Data.TestManifest = 5, cfg.Data.TrainManifest
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "updates 3, 4, 5\n")
	_, score, _ := strings.Cut(said, "test set")
	score, _, _ = strings.Cut(score, "\n")
	dir := cfg.Run.CheckpointDir
	for _, gone := range []int{4, 3} {
		cfg.Run.Resume = "auto"
		if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(gone))); err != nil {
			t.Fatal(err)
		}
		again := mustRun(t, cfg)
		testkit.MustContain(t, again, "kept "+filepath.Join(dir, recognize.AveragedDir, checkpoint.Name(5))+": the mean of the weights after updates 3, 4, 5\n", score)
		if strings.Contains(again, "left out") || strings.Contains(again, "saved ") {
			t.Errorf("there is nothing to warn of or to save:\n%s", again)
		}
	}
	cfg.Run.AverageLast = 2 // 4 and 5, of which 4 is gone: the mean of three is better than one
	testkit.MustContain(t, mustRun(t, cfg), "kept", "updates 3, 4, 5\n")
	cfg.Run.AverageLast = 1
	testkit.MustContain(t, mustRun(t, cfg), "saved", "the mean of the weights after update 5\n")
}

// An average belongs to one end of training: another run to the same update replaces it. A kept one is scored on the
// validation set of now.
func TestAverageOfAnotherEnd(t *testing.T) {
	cfg := averaging(t)
	cfg.Run.KeepLast = 5
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	if s := mustLoad(t, dir).String(); strings.Contains(s, "validation") {
		t.Errorf("there is no validation set: %s", s)
	}
	cfg.Run.Resume, cfg.Data.ValManifest = "auto", []string{speak(t, spoken{id: "v", text: "abc"})}
	testkit.MustContain(t, mustRun(t, cfg), "validation of the averaged weights: ", "kept ")
	testkit.MustContain(t, mustLoad(t, dir).String(), "mean of the weights after updates 3, 4, 5", "validation WER")
	if err := os.RemoveAll(filepath.Join(dir, checkpoint.Name(5))); err != nil {
		t.Fatal(err)
	}
	cfg.Optimizer.LearningRate *= 2
	testkit.MustContain(t, mustRun(t, cfg), "saved "+filepath.Join(dir, recognize.AveragedDir))
}

// A run that goes on in another folder averages what it saves there, chooses its best among that, and says so at the
// start: interrupted and resumed once more it comes to the same.
func TestRunElsewhere(t *testing.T) {
	cfg := averaging(t)
	cfg.Data.ValManifest, cfg.Run.EvalEvery = []string{speak(t, spoken{id: "v", text: "abc"})}, 1
	cfg.Optimizer.WarmupUpdates = 2 // of 5 and of 7 updates: nothing to warn of
	mustRun(t, cfg)
	old := cfg.Run.CheckpointDir
	cfg.Run.CheckpointDir, cfg.Run.Resume, cfg.Optimizer.MaxUpdates = filepath.Join(t.TempDir(), "new"), filepath.Join(old, checkpoint.Name(5))+"/", 7
	said := mustRun(t, cfg)
	testkit.MustContain(t, said, "NOTE: the average at the end (average_last 3) is made of checkpoints in "+cfg.Run.CheckpointDir+": those in "+old+" take no part",
		"stays in "+old+": the best of this run is chosen among its own", "the mean of the weights after updates 6, 7 (average_last is 3: there are no others)",
		"best checkpoint: "+cfg.Run.CheckpointDir)
	if strings.Contains(said, "WARNING") {
		t.Errorf("nothing is lost:\n%s", said)
	}
	// One and the same folder may be written in several ways.
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, cfg.Run.CheckpointDir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run.Resume, cfg.Run.CheckpointDir = filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(7))+"/", relative
	if said := mustRun(t, cfg); strings.Contains(said, "NOTE: the average") {
		t.Errorf("it is the same folder:\n%s", said)
	}
}

// finished is a run that has ended with an average, set up once more, with a replica that can be made to fail.
func finished(t *testing.T, cfg Config, said *bytes.Buffer) (*run, *frail) {
	t.Helper()
	mustRun(t, cfg)
	r := start(t, withResume(cfg), said)
	return r, intercept(r)
}

// What goes wrong with an average is said; the run itself is saved, and makes it later.
func TestAverageFails(t *testing.T) {
	broken := errors.New("broken")
	cfg := averaging(t)
	cfg.Data.ValManifest = cfg.Data.TrainManifest
	r, f := finished(t, cfg, &bytes.Buffer{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.average(ctx, 3); !errors.Is(err, ErrInterrupted) {
		t.Errorf("stopped: %v", err)
	}
	for name, set := range map[string]*error{"passes": &f.run, "streams": &f.load, "saves": &f.export} {
		*set = broken
		if err := r.average(t.Context(), 3); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		*set = nil
	}
	averaged := r.ledger.averagedDir()
	remove(t, averaged)
	f.mean = broken
	if err := r.average(t.Context(), 3); err != broken {
		t.Errorf("the mean: %v", err)
	}
	f.mean = nil
	write(t, averaged, "")
	testkit.MustFail(t, r.average(t.Context(), 3), "not a directory", "the run itself is saved, and this makes the average later: konkanitrain --checkpoint_dir "+r.ledger.dir+" --resume auto")
	remove(t, averaged)
	r.ledger.cfg.Model.Heads = 5
	testkit.MustFail(t, r.average(t.Context(), 3), "heads 5", "this makes the average later: ")
	r.ledger.cfg.Model.Heads = 2
	remove(t, r.ledger.newest)
	testkit.MustFail(t, r.average(t.Context(), 3), checkpoint.Name(5))
}

// Checkpoints whose weights can't be taken in are left out and named.
func TestAverageOfUnreadableParts(t *testing.T) {
	var said bytes.Buffer
	cfg := averaging(t)
	r, f := finished(t, cfg, &said)
	remove(t, r.ledger.averagedDir())
	f.load = errors.New("broken")
	if err := r.average(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(said.String(), ": broken\n"); n != 2 {
		t.Errorf("%d warnings:\n%s", n, said.String())
	}
	testkit.MustContain(t, said.String(), "WARNING: left out of the average: ", "the mean of the weights after update 5\n")
}

// An earlier average that can't be removed stays with a word beside a new one, and is an error where there is none.
func TestAverageThatStays(t *testing.T) {
	var said bytes.Buffer
	cfg := averaging(t)
	r, _ := finished(t, cfg, &said)
	strange := filepath.Join(r.ledger.averagedDir(), checkpoint.Name(4))
	if err := os.CopyFS(strange, os.DirFS(filepath.Join(r.ledger.averagedDir(), checkpoint.Name(5)))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(strange, "notes"), "mine")
	if err := r.average(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, said.String(), "WARNING: an earlier average stays: "+strange)
	write(t, filepath.Join(r.ledger.averagedDir(), checkpoint.Name(5), "notes"), "mine")
	testkit.MustFail(t, r.ledger.dropAverage(), checkpoint.Name(5), "held files that are no checkpoint's")
	remove(t, r.ledger.averagedDir())
	write(t, r.ledger.averagedDir(), "")
	r.ledger.cfg.Run.AverageLast, r.cfg.Run.AverageLast = 0, 0
	testkit.MustFail(t, r.finish(t.Context()), "averaged: not a directory")
}

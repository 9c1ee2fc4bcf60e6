package train

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
	"konkanitrain/internal/watch"
)

// A folder that is removed while the run is going on is made again with a word, and so is what shows the run.
func TestFolderIsRemoved(t *testing.T) {
	var said bytes.Buffer
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = 2, 6
	dir := cfg.Run.CheckpointDir
	r := start(t, cfg, &said)
	r.hook = atUpdate(3, func() { remove(t, dir) })
	mustEnd(t, r)
	mustContainOnce(t, said.String(), "WARNING: the folder "+dir+" was removed or moved away while the run was going on, and its checkpoints with it: it is made again")
	mustHave(t, dir, 4, 6)
	got := records(t, dir)
	if len(got) != 5 || got[0].Event != "start" || got[1].Event != "save" || got[2].Event != "update" || got[2].Update != 5 {
		t.Errorf("the new metrics are %+v, want a start, the save of update 4, two updates and a save", got)
	}
	if found, err := watch.Sources(dir); err != nil || len(found) != 1 { // it can be seen
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(dir, watch.StepFile)); err != nil {
		t.Error(err)
	}
	r.close()
	if another := start(t, withResume(cfg), nil); another.updater.Updates != 6 {
		t.Errorf("resumed at %d", another.updater.Updates)
	}
}

// Where a new run has begun in the place of the removed folder, nothing in there is touched: the old one ends.
func TestFolderIsAnotherRuns(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates, cfg.Run.KeepLast = 2, 10, 1
	dir := cfg.Run.CheckpointDir
	first := start(t, cfg, nil)
	first.hook = atUpdate(3, func() {
		remove(t, dir)
		second := cfg
		second.Run.Seed, second.Optimizer.MaxUpdates = 99, 2
		mustRun(t, second)
	})
	err := first.loop(t.Context())
	testkit.MustFail(t, err, "update 4 is not saved: checkpoint_dir: "+dir+" is not the folder that this run began in")
	mustHave(t, dir, 2)
	if _, _, s := readCheckpoint(t, dir, 2); s.Progress.Updates != 2 {
		t.Errorf("%+v", s.Progress)
	}
	checkMetrics(t, dir, map[string]int{"start": 1, "update": 2, "save": 1})
}

// Nor is an average saved there, which comes a validation later.
func TestAverageInAnotherRunsFolder(t *testing.T) {
	cfg := averaging(t)
	r := start(t, cfg, nil)
	mustLoop(t, r)
	a, err := r.ledger.mean(3)
	if err != nil {
		t.Fatal(err)
	}
	dir := cfg.Run.CheckpointDir
	remove(t, dir)
	mustRun(t, cfg) // another one, with an average of its own
	_, err = r.ledger.saveAverage(a, false)
	testkit.MustFail(t, err, dir+" is not the folder that this run began in")
	mustHave(t, r.ledger.averagedDir(), 5)
}

// A run has its folder for itself, from before it looks for what to go on from until its end.
func TestFolderIsTaken(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	r := start(t, cfg, nil)
	testkit.MustContain(t, refused(t, withResume(cfg)), "checkpoint_dir: ", "another run is using it")
	r.close()
	start(t, cfg, nil)
}

// A path that can't be a folder is refused; so are a log_dir that can't be one and leftovers that can't be removed.
func TestFolderIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	c := cfg
	c.Run.CheckpointDir = filepath.Join(file, "run")
	_, err := setUp(t.Context(), c, Options{})
	testkit.MustFail(t, err, "checkpoint_dir: stat", "not a directory")
	c = cfg
	c.Run.LogDir = filepath.Join(file, "logs")
	testkit.MustContain(t, refused(t, c), "log_dir: stat", "not a directory")
	c = cfg
	c.Run.LogDir = t.TempDir()
	if err := os.Mkdir(filepath.Join(c.Run.LogDir, "metrics.jsonl"), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, refused(t, c), "log_dir: ", "is a directory")
	c = elsewhere(t, cfg)
	if err := os.MkdirAll(c.Run.CheckpointDir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.Run.CheckpointDir, "averaged"), "")
	_, err = setUp(t.Context(), c, Options{})
	testkit.MustFail(t, err, "averaged: not a directory")
}

// A leftover that can't be removed stops a run that would else fill the disk with more of them.
func TestLeftoverThatStays(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	if err := os.MkdirAll(filepath.Join(cfg.Run.CheckpointDir, ".tmp-step-00000004-x", checkpoint.ModelFile, "a folder in its place"), 0o777); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, refused(t, cfg), "leftover of a save that was interrupted: ", checkpoint.ModelFile)
}

// Where the folder can't be read any more, each look at it says so.
func TestFolderThatCannotBeRead(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	r := start(t, cfg, nil)
	l := r.ledger
	from := l.origin.Checkpoint
	l.dir = filepath.Join(t.TempDir(), "file")
	write(t, l.dir, "")
	l.state.Due = nil
	for _, err := range map[string]error{
		"new": l.openNew(), "checkpoint": l.openCheckpoint(from), "room": l.makeRoom(), "space": l.checkSpace(),
	} {
		testkit.MustFail(t, err, l.dir+": not a directory")
	}
	testkit.MustFail(t, l.refuseAverage(), "averaged: not a directory")
}

// The metrics go to log_dir where it is set.
func TestLogDir(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.LogDir, cfg.Optimizer.MaxUpdates = filepath.Join(t.TempDir(), "logs", "a"), 1
	mustRun(t, cfg)
	checkMetrics(t, cfg.Run.LogDir, map[string]int{"start": 1, "update": 1, "save": 1})
	if _, err := os.Stat(filepath.Join(cfg.Run.CheckpointDir, "metrics.jsonl")); err == nil {
		t.Error("they are in checkpoint_dir as well")
	}
	// Whoever looks at the run by its checkpoint_dir finds them.
	found, err := watch.Sources(cfg.Run.CheckpointDir)
	if err != nil || len(found) != 1 || found[0].Logs != cfg.Run.LogDir || found[0].Dir != cfg.Run.CheckpointDir || found[0].Run != cfg.Run.CheckpointDir {
		t.Errorf("%+v, %v", found, err)
	}
}

// What saves that were killed have left is removed and named, also beside the averaged weights.
func TestLeftoversAreRemoved(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	left := []string{filepath.Join(cfg.Run.CheckpointDir, ".tmp-step-00000004-x"), filepath.Join(cfg.Run.CheckpointDir, "averaged", ".tmp-step-00000005-y")}
	for _, dir := range left {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, checkpoint.ModelFile), "half")
	}
	var said bytes.Buffer
	start(t, cfg, &said)
	for _, dir := range left {
		mustContainOnce(t, said.String(), "removed "+dir+", left by a save that was killed")
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is there still", dir)
		}
	}
}

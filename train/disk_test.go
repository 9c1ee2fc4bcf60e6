package train

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
)

// Whether the disk holds what the run will save is judged before the first update: not one checkpoint is no run, and
// fewer than are kept is said.
func TestSpaceIsJudged(t *testing.T) {
	for _, c := range []struct {
		free              int64
		keep, average     int
		there             int
		refused, warnings bool
		files             int64 // more than enough where it is 0
	}{
		{free: 99, keep: 1, refused: true},
		{free: 199, keep: 1, warnings: true}, // the one being written beside the one that is kept
		{free: 200, keep: 1},
		{free: 399, keep: 3, warnings: true},
		{free: 400, keep: 3},
		{free: 200, keep: 3, there: 2},
		{free: 199, keep: 3, there: 2, warnings: true},
		{free: 100, keep: 3, there: 9},
		{free: 99, keep: 3, there: 9, refused: true},
		{free: 899, keep: 3, average: 8, warnings: true},
		{free: 900, keep: 3, average: 8},
		{free: -1, keep: 3}, // nobody knows
		{free: 900, keep: 3, files: 15, warnings: true},
		{free: 900, keep: 3, files: 16},
		{free: 900, keep: 3, there: 2, files: 7, warnings: true},
		{free: 900, keep: 3, there: 9, files: 3, warnings: true}, // and checkpoint.Try sees whether it is so
		{free: 900, keep: 3, there: 9, files: 4},
		{free: 900, keep: 3, files: -1}, // the system doesn't say
	} {
		if c.files == 0 {
			c.files = 1000
		}
		var said bytes.Buffer
		cfg := Default()
		cfg.Run.KeepLast, cfg.Run.AverageLast = c.keep, c.average
		l := newLedger(cfg, newReporter(&said))
		err := l.judgeSpace(checkpoint.Space{Need: 100, Free: c.free, FreeFiles: c.files}, c.there)
		if (err != nil) != c.refused || (said.Len() > 0) != c.warnings {
			t.Errorf("%+v: %v, %q", c, err, said.String())
		}
		if c.refused {
			testkit.MustFail(t, err, "checkpoint_dir runs/default: a checkpoint takes 100 bytes, and 99 bytes are free: not one fits, so nothing that is learned could be saved")
			if advice := strings.Contains(err.Error(), " --resume auto --keep_last 1"); advice != (c.there > 1) {
				t.Errorf("%+v: %v: with advice %t", c, err, advice)
			}
		}
		if c.warnings {
			testkit.MustContain(t, said.String(), "WARNING: checkpoint_dir runs/default: a checkpoint takes 100 bytes", "lower keep_last")
			if files := strings.Contains(said.String(), "can be made there (df -i)"); files != (c.files < 1000) {
				t.Errorf("%+v: %q", c, said.String())
			}
		}
	}
}

// The look at the disk is at what the run saves, and where; where it fails, the run doesn't begin. A finished run saves
// nothing.
func TestSpaceIsMeasured(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	r := start(t, cfg, nil)
	if err := r.ledger.checkSpace(); err != nil {
		t.Error(err)
	}
	// What can't be written can't be measured.
	seconds := r.ledger.state.Progress.Seconds
	r.ledger.state.Progress.Seconds = float64(nan)
	testkit.MustFail(t, r.ledger.checkSpace(), "unsupported value: NaN")
	r.ledger.finished = true
	if err := r.ledger.checkSpace(); err != nil {
		t.Errorf("it has nothing to save: %v", err)
	}
	r.ledger.standing = ahead // in a new folder say
	testkit.MustFail(t, r.ledger.checkSpace(), "unsupported value: NaN")
	testkit.MustFail(t, r.begin(), "unsupported value: NaN")
	r.ledger.state.Progress.Seconds = seconds
	dir := filepath.Join(t.TempDir(), "file")
	write(t, dir, "")
	r.ledger.dir = dir
	testkit.MustFail(t, r.ledger.checkSpace(), "not a directory")
}

// What has the name of a checkpoint and is none is moved, with a word, when that update is saved.
func TestSaveSetsAside(t *testing.T) {
	cfg := averaging(t)
	var said bytes.Buffer
	r := start(t, cfg, &said)
	stray := filepath.Join(cfg.Run.CheckpointDir, checkpoint.Name(2))
	r.hook = atUpdate(1, func() {
		if err := os.MkdirAll(filepath.Join(stray, "notes"), 0o777); err != nil {
			t.Error(err)
		}
	})
	mustLoop(t, r)
	testkit.MustContain(t, said.String(), "WARNING: what had the name of this checkpoint and was none is called "+stray+".aside-")
	moved, err := filepath.Glob(stray + ".aside-*/notes")
	if err != nil || len(moved) != 1 {
		t.Errorf("moved: %v, %v", moved, err)
	}
	if r.updater.Updates != 5 {
		t.Errorf("the run ended at update %d", r.updater.Updates)
	}
}

// Where it can't be moved, since the new name makes the path too long, that is said.
func TestSetAsideFails(t *testing.T) {
	const most = 4095 // bytes in a path on Linux
	if runtime.GOOS != "linux" {
		t.Skip("for another system's limit")
	}
	r := start(t, small(tiny(t, speak(t, babble(4, 4, 1)...))), nil)
	dir := t.TempDir()
	for len(dir) < most-220 {
		dir += "/" + strings.Repeat("x", 99)
	}
	dir += "/" + strings.Repeat("y", most-20-len(dir)-1)
	stray := filepath.Join(dir, checkpoint.Name(0))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, stray, "notes")
	_, err := r.ledger.write(dir, checkpoint.Content{})
	testkit.MustFail(t, err, "update 0 is not saved in "+dir, "file name too long")
}

// A newest checkpoint that was passed over as damaged doesn't count among those that are kept, and the one just saved
// is never removed.
func TestDamagedNewestDoesNotCount(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = 5, 10
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	damage(t, dir, 10, checkpoint.ModelFile)
	cfg = withResume(cfg)
	cfg.Run.KeepLast, cfg.Run.SaveEvery, cfg.Optimizer.MaxUpdates = 1, 1, 8
	testkit.MustContain(t, mustRun(t, cfg), "WARNING: passed over the checkpoint "+filepath.Join(dir, checkpoint.Name(10)), "resumed from "+filepath.Join(dir, checkpoint.Name(5)))
	mustHave(t, dir, 8, 10)
	if c, damaged, err := checkpoint.Latest(dir); err != nil || c.Step != 8 || len(damaged) != 1 {
		t.Errorf("%+v, %v, %v", c, damaged, err)
	}
	cfg.Optimizer.MaxUpdates = 11 // past it
	mustRun(t, cfg)
	mustHave(t, dir, 11)
}

// Old checkpoints that can't be removed are no reason to stop.
func TestPruningFails(t *testing.T) {
	var said bytes.Buffer
	r := start(t, small(tiny(t, speak(t, babble(8, 4, 1)...))), &said)
	r.ledger.cfg.Run.KeepLast = 0 // which Prune refuses
	if removed := r.ledger.prune(); len(removed) != 0 {
		t.Errorf("%v", removed)
	}
	testkit.MustContain(t, said.String(), "WARNING: removing old checkpoints: keeping the last 0 checkpoints")
}

package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/words"
)

// open makes the folder this run's own, finds what the run goes on from, and refuses what doesn't fit the settings.
func (l *ledger) open(o *Origin) error {
	if err := l.cfg.Run.CheckFolder(); err != nil {
		return err
	}
	if err := checkpoint.MakeDir(l.dir); err != nil {
		return fmt.Errorf("checkpoint_dir: %w", err)
	}
	var err error
	if l.folder, err = checkpoint.Lock(l.dir); err != nil {
		return fmt.Errorf("checkpoint_dir: %w", err)
	}
	restored, err := l.clean()
	if err != nil {
		return err
	}
	if l.origin = o; o == nil || restored && l.cfg.Run.Resume == "auto" { // it may be the newest
		if l.origin, err = FindOrigin(l.cfg.Run); err != nil {
			return err
		}
	}
	for _, d := range l.origin.Damaged {
		l.report.say("WARNING: passed over the checkpoint %v", d)
	}
	if l.origin.Checkpoint == nil {
		return l.openNew()
	}
	return l.openCheckpoint(l.origin.Checkpoint)
}

// clean removes what saves that were killed have left, and says whether a checkpoint has its name back for it.
func (l *ledger) clean() (restored bool, err error) {
	for _, dir := range []string{l.dir, l.averagedDir()} {
		named, err := checkpoint.Restore(dir)
		if err != nil {
			return restored, err
		}
		for _, path := range named {
			l.report.say("%s has its name back, which it lost to a save that was killed", path)
			restored = true
		}
		removed, err := checkpoint.Clean(dir)
		if err != nil {
			return restored, err
		}
		for _, path := range removed {
			l.report.say("removed %s, left by a save that was killed", path)
		}
	}
	return restored, nil
}

// openNew refuses a new run where an earlier one has left something that it would replace, or with weights to start
// from that don't fit.
func (l *ledger) openNew() error {
	l.sayNew()
	if err := l.findSource(); err != nil {
		return err
	}
	newest, err := l.newestName()
	if err != nil {
		return err
	}
	if newest != "" {
		return fmt.Errorf("checkpoint_dir %s holds a run already, up to %s: choose another checkpoint_dir for a new run, or go on: %s",
			l.dir, newest, l.resumeCommand(""))
	}
	return l.refuseAverage()
}

// sayNew says, once, that there is nothing to resume.
func (l *ledger) sayNew() {
	if l.cfg.Run.Resume == "auto" {
		l.report.sayOnce(fmt.Sprintf("resume auto: no checkpoint in %s yet: a new run", l.dir))
	}
}

// newestName is the name of the newest checkpoint in the folder, whole or not; "" without one.
func (l *ledger) newestName() (string, error) {
	entries, err := checkpoint.List(l.dir)
	if err != nil || len(entries) == 0 {
		return "", err
	}
	return filepath.Base(entries[len(entries)-1].Path), nil
}

// openCheckpoint takes up the state of a checkpoint.
func (l *ledger) openCheckpoint(from *checkpoint.Checkpoint) error {
	if err := l.checkPlace(from); err != nil {
		return err
	}
	if err := from.State(&l.state); err != nil {
		return err
	}
	if l.state.Format != stateFormat {
		return fmt.Errorf("%s has format %d, this version of konkanitrain reads %d", from.Path, l.state.Format, stateFormat)
	}
	if len(l.state.Averaged) > 0 {
		return fmt.Errorf("resume from %s: these are averaged weights without an optimizer, which ended a run; "+
			"a new run can start from them with --init_from %s", from.Path, words.Shell(from.Path))
	}
	changed, idle, err := sameRun(l.state.Config, l.cfg)
	var differ *checkpoint.SettingsError
	if errors.As(err, &differ) && len(differ.Differences) == 1 && differ.Differences[0].Key == "freeze" {
		how := "--init_from " + words.Shell(from.Path)
		if f := l.cfg.Optimizer.Freeze; len(f) > 0 {
			how += " --freeze " + words.Shell(strings.Join(f, ","))
		}
		return fmt.Errorf("resume from %s: %w, since its optimizer holds nothing of what was frozen; or begin a new run with %s in another checkpoint_dir",
			from.Path, err, how)
	}
	if err != nil {
		return fmt.Errorf("resume from %s: %w, or start anew in another checkpoint_dir", from.Path, err)
	}
	for _, c := range changed {
		l.report.say("NOTE: a setting differs from the checkpoint's (saved / now): %s: %s / %s", c.Key, c.Saved, c.Current)
		l.cfg.retrend(&l.state.Trend, c.Key)
	}
	for _, c := range idle {
		l.report.say("NOTE: %s is %s now, and was %s in the checkpoint: it says how a new run starts, and has no effect on this one", c.Key, c.Current, c.Saved)
	}
	if err := l.cfg.keepStart(l.state.Config); err != nil {
		return fmt.Errorf("resume from %s: %w", from.Path, err)
	}
	if l.inside(from.Path) {
		return l.recallDue(from)
	}
	l.moveFrom(from)
	return nil
}

// checkPlace refuses a checkpoint whose run would get in the way of others: a run that goes back would mix its
// checkpoints with the later ones, and have its own removed as old; one from elsewhere would mix them with those of
// another run.
func (l *ledger) checkPlace(from *checkpoint.Checkpoint) error {
	newest, err := l.newestName()
	if err != nil {
		return err
	}
	elsewhere := !l.inside(from.Path)
	passedOver := func() bool {
		for _, d := range l.origin.Damaged {
			if filepath.Base(d.Path) == newest {
				return true
			}
		}
		return false
	}
	switch {
	case newest != "" && elsewhere:
		return fmt.Errorf("resume from %s: checkpoint_dir %s holds another run's checkpoints, up to %s: choose another checkpoint_dir, "+
			"or go on with these by --resume auto", from.Path, l.dir, newest)
	case newest > checkpoint.Name(from.Step) && !passedOver():
		return fmt.Errorf("resume from %s: checkpoint_dir %s holds later checkpoints, up to %s: choose another checkpoint_dir, or move these away",
			from.Path, l.dir, newest)
	case elsewhere:
		return l.refuseAverage()
	}
	return nil
}

// moveFrom makes the state one of a run in checkpoint_dir, which doesn't hold the checkpoints that were made elsewhere:
// resumed there once more, the run could not find them.
func (l *ledger) moveFrom(from *checkpoint.Checkpoint) {
	l.state.Due = []int{}
	if n := l.cfg.Run.AverageLast; n > 1 {
		l.report.say("NOTE: the average at the end (average_last %d) is made of checkpoints in %s: those in %s take no part in it",
			n, l.dir, filepath.Dir(from.Path))
	}
	if l.state.Best != nil {
		l.report.say("NOTE: the best checkpoint so far, %s, stays in %s: the best of this run is chosen among its own",
			checkpoint.Name(l.state.BestStep), filepath.Dir(from.Path))
	}
	l.state.forgetBest()
	if l.state.Before != nil {
		l.state.Before.forgetBest()
	}
}

// inside says whether a checkpoint's path is in checkpoint_dir.
func (l *ledger) inside(path string) bool {
	a, errA := os.Stat(filepath.Dir(path))
	b, errB := os.Stat(l.dir)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// recallDue fills the list of due saves of a run that didn't write it down yet: all that are there count.
func (l *ledger) recallDue(from *checkpoint.Checkpoint) error {
	if l.state.Due != nil {
		return nil
	}
	l.state.Due = []int{}
	entries, err := checkpoint.List(filepath.Dir(from.Path))
	for _, e := range entries {
		if e.Step <= from.Step {
			l.state.Due = append(l.state.Due, e.Step)
		}
	}
	return err
}

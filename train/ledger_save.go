package train

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// save writes a checkpoint of the present state, unless it is on disk already, and removes old ones. due says that
// save_every asks for it.
func (l *ledger) save(due bool) error {
	p := &l.state.Progress
	if last := len(l.state.Due) - 1; due && (last < 0 || l.state.Due[last] != p.Updates) {
		l.noteDue()
		l.standing = ahead
	}
	if l.standing == saved {
		return nil
	}
	if err := l.sound(); err != nil {
		return err
	}
	p.WindowSize, p.Workers, p.Kernels = l.cfg.Window(), l.memory.replica.Wishes().Workers, l.kernels
	p.SetSize, p.SetSeconds, p.SetHash, p.TextHash, p.NoiseHash = l.setSize, l.seconds, l.setHash, l.textHash, l.noiseHash
	p.Seconds = l.earlier + time.Since(l.started).Seconds()
	c, err := l.content()
	if err != nil {
		return err
	}
	l.settle()
	path, err := l.write(l.dir, c)
	if err != nil {
		return l.withAdvice(err)
	}
	again := path == l.newest // with a validation that came after the first save
	l.newest, l.onDisk, l.standing, l.otherModel = path, p.Updates, saved, false
	if l.state.BestStep == p.Updates && l.state.Best != nil {
		l.best = path
	}
	l.prune()
	if again {
		return nil
	}
	l.report.say("saved %s", path)
	l.record("save", map[string]any{"update": p.Updates, "path": path})
	return nil
}

// withNewest adds to the error of a run that can't save where it can go on from.
func (l *ledger) withNewest(err error) error {
	if l.newest == "" {
		return fmt.Errorf("%w\nthere is no checkpoint yet: begin anew", err)
	}
	how := l.resumeCommand("")
	if !l.inside(l.newest) {
		how = l.resumeFrom(l.newest, "")
	}
	return fmt.Errorf("%w\nnothing after the last checkpoint, %s, is saved; to go on from there: %s", err, l.newest, how)
}

// resumeCommand is the whole command that goes on with the run, for a shell. It needs no --config and no flag of the
// run's: the checkpoint has all settings, and a file that was overruled by flags would change them.
func (l *ledger) resumeCommand(flags string) string { return l.resumeFrom("auto", flags) }

func (l *ledger) resumeFrom(resume, flags string) string {
	return strings.TrimSpace(fmt.Sprintf("%s --checkpoint_dir %s --resume %s %s", words.Shell(l.program), words.Shell(l.dir), words.Shell(resume), flags))
}

// sound is an error if a weight is not a finite number: such a state is never saved.
func (l *ledger) sound() error {
	odd, err := l.memory.replica.Finite()
	if odd != nil {
		err = &update.DivergedError{NotFinite: *odd, Updates: l.state.Progress.Updates}
	}
	return err
}

// content is a checkpoint of the present state.
func (l *ledger) content() (checkpoint.Content, error) {
	description, err := l.describe(&l.state)
	return checkpoint.Content{Model: l.memory.model(), Description: description, Optimizer: l.memory.optimizer(), State: &l.state}, err
}

// write makes a checkpoint in dir, which is checkpoint_dir or in it. What is in its place and is none is moved, with a
// word.
func (l *ledger) write(dir string, c checkpoint.Content) (path string, err error) {
	n := l.state.Progress.Updates
	renewed, err := l.folder.Hold()
	if err != nil {
		return "", fmt.Errorf("update %d is not saved: checkpoint_dir: %w", n, err)
	}
	if renewed {
		l.report.say("WARNING: the folder %s was removed or moved away while the run was going on, and its checkpoints with it: it is made again", l.dir)
		l.renewed()
	}
	moved, err := checkpoint.SetAside(dir, n)
	if err != nil {
		return "", fmt.Errorf("update %d is not saved in %s: %w", n, dir, err)
	}
	if moved != "" {
		l.report.say("WARNING: what had the name of this checkpoint and was none is called %s now", moved)
	}
	return checkpoint.Save(dir, n, c)
}

// withAdvice says how a run on a full disk can go on.
func (l *ledger) withAdvice(err error) error {
	var full *checkpoint.NoSpaceError
	if !errors.As(err, &full) {
		return err
	}
	entries, _ := checkpoint.List(l.dir)
	return l.withPruning(err, len(entries))
}

// withPruning adds to an error how the disk gets room where so many checkpoints are there, if it does.
func (l *ledger) withPruning(err error, there int) error {
	if there < 2 || l.cfg.Run.KeepLast < 2 && l.cfg.Run.AverageLast < 2 {
		return err
	}
	flags := "--keep_last 1"
	if l.cfg.Run.AverageLast > 1 {
		flags += " --average_last 0"
	}
	return fmt.Errorf("%w; this begins with removing all checkpoints but the newest and the best: %s", err, l.resumeCommand(flags))
}

// checkSpace looks, before the first update, whether the disk holds what the run will save: the size is known.
func (l *ledger) checkSpace() error {
	if l.finished && l.standing == saved {
		return nil // there is nothing to save
	}
	c, err := l.content()
	if err != nil {
		return err
	}
	space, err := checkpoint.Measure(l.dir, l.state.Progress.Updates, c)
	if err != nil {
		return err
	}
	entries, err := checkpoint.List(l.dir)
	if err != nil {
		return err
	}
	if err := l.judgeSpace(space, len(entries)); err != nil {
		return err
	}
	if err := checkpoint.Try(l.dir, l.state.Progress.Updates, c); err != nil {
		return fmt.Errorf("nothing that is learned could be saved: %w", l.withAdvice(err))
	}
	return nil
}

// judgeSpace refuses a run whose disk doesn't hold a single checkpoint more, and warns where it doesn't hold as many as
// are kept; so many are there. That no files can be made is for [checkpoint.Try] to find: some systems misstate it.
func (l *ledger) judgeSpace(space checkpoint.Space, there int) error {
	keep := max(l.cfg.Run.KeepLast, l.cfg.Run.AverageLast)
	more := max(keep+1-there, 1)
	switch {
	case space.Free >= 0 && space.Free < space.Need:
		return l.withPruning(fmt.Errorf("checkpoint_dir %s: %s: not one fits, so nothing that is learned could be saved; "+
			"free some space or choose another folder", l.dir, space.Lack(0)), there)
	case !space.Fits(more):
		l.report.say("WARNING: checkpoint_dir %s: %s: it won't hold the %d that are kept and the one being written; free some space, or lower keep_last", l.dir, space.Lack(more), keep)
	}
	return nil
}

// makeRoom removes the checkpoints that keep_last doesn't ask for before the first save: a run that has filled its disk
// can go on with fewer. Where the run doesn't go on from the newest one, that one is damaged, and the others stay.
func (l *ledger) makeRoom() error {
	newest, err := l.newestName()
	if err != nil || newest == "" || l.cfg.Run.measuring() || !l.inside(l.newest) || newest != filepath.Base(l.newest) {
		return err
	}
	for _, path := range l.prune() {
		l.report.say("removed %s: keep_last is %d", path, l.cfg.Run.KeepLast)
	}
	return nil
}

// prune removes old checkpoints and names them. The newest one stays in any case, what the average is made of, and
// what was best before a last validation that wasn't due: a resumed run goes by it. That one can't be removed is no
// reason to stop.
func (l *ledger) prune() (removed []string) {
	keep := checkpoint.Keep{Last: l.cfg.Run.KeepLast, Also: []string{l.newest, l.best}, Suspect: l.origin.Damaged}
	for _, n := range l.averagedUpdates(l.cfg.Run.AverageLast) {
		keep.Also = append(keep.Also, checkpoint.Name(n))
	}
	if b := l.state.Before; b != nil && b.Best != nil {
		keep.Also = append(keep.Also, checkpoint.Name(b.BestStep))
	}
	removed, err := checkpoint.Prune(l.dir, keep)
	if err != nil {
		l.report.say("WARNING: removing old checkpoints: %v", err)
	}
	return removed
}

// loadBest names the best checkpoint and takes its model. One that can't be used is said, and the newest model stays.
func (l *ledger) loadBest() error {
	if l.best == "" {
		if l.otherModel {
			return l.loadModel(l.newest)
		}
		return nil
	}
	if l.best != l.newest || l.otherModel {
		if err := l.loadModel(l.best); err != nil {
			l.report.say("WARNING: the best checkpoint can't be used, taking the newest, %s: %v", l.newest, err)
			l.best = ""
			return l.loadModel(l.newest) // a file that can't be read to its end may have changed some of the weights
		}
	}
	l.report.say("best checkpoint: %s", l.best)
	return nil
}

// loadModel takes the model of a checkpoint into memory: as averages, where there are any.
func (l *ledger) loadModel(path string) error {
	c, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	return c.LoadModel(l.memory.model())
}

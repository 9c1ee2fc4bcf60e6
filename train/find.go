package train

import (
	"fmt"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
)

// findCheckpoint opens what the run goes on from, or returns nil, and refuses one that doesn't fit the settings.
func (t *trainer) findCheckpoint() (from *checkpoint.Checkpoint, err error) {
	dir := t.cfg.Run.CheckpointDir
	for _, dir := range []string{dir, filepath.Join(dir, averagedDir)} {
		removed, err := checkpoint.Clean(dir)
		if err != nil {
			return nil, err
		}
		for _, path := range removed {
			t.report.say("removed %s, left by a save that was killed", path)
		}
	}
	switch t.cfg.Run.Resume {
	case "":
		err = t.checkNew()
	case "auto":
		from, err = t.openNewest()
	default:
		from, err = t.openNamed(t.cfg.Run.Resume)
	}
	if err != nil || from == nil {
		return nil, err
	}
	if err := from.State(&t.state); err != nil {
		return nil, err
	}
	if t.state.Format != stateFormat {
		return nil, fmt.Errorf("%s has format %d, this version of konkanitrain reads %d", from.Path, t.state.Format, stateFormat)
	}
	if len(t.state.Averaged) > 0 {
		return nil, fmt.Errorf("resume from %s: these are averaged weights without an optimizer, which ended a run; a new run can start from them with --init_from %s", from.Path, from.Path)
	}
	changed, err := sameRun(t.state.Config, t.cfg)
	if err != nil {
		return nil, fmt.Errorf("resume from %s: %w, or start anew in another checkpoint_dir", from.Path, err)
	}
	for _, c := range changed {
		t.report.say("NOTE: a setting differs from the checkpoint's (saved / now): %s", c)
	}
	if t.inside(from.Path) {
		return from, t.recallDue(from)
	}
	t.moveFrom(from)
	return from, nil
}

// moveFrom makes the state one of a run in checkpoint_dir, which doesn't hold the checkpoints that were made elsewhere:
// resumed there once more, the run could not find them.
func (t *trainer) moveFrom(from *checkpoint.Checkpoint) {
	t.state.Due = []int{}
	if t.cfg.Run.AverageLast > 1 {
		t.report.say("NOTE: the average at the end (average_last %d) is made of checkpoints in %s: those in %s take no part in it",
			t.cfg.Run.AverageLast, t.cfg.Run.CheckpointDir, filepath.Dir(from.Path))
	}
	if t.state.Best != nil {
		t.report.say("NOTE: the best checkpoint so far, %s, stays in %s: the best of this run is chosen among its own", checkpoint.Name(t.state.BestStep), filepath.Dir(from.Path))
	}
	t.state.forgetBest()
	if t.state.Before != nil {
		t.state.Before.forgetBest()
	}
}

// inside says whether a checkpoint's path is in checkpoint_dir.
func (t *trainer) inside(path string) bool {
	a, errA := os.Stat(filepath.Dir(path))
	b, errB := os.Stat(filepath.Clean(t.cfg.Run.CheckpointDir))
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// recallDue fills the list of due saves of a run that didn't write it down yet: all that are there count.
func (t *trainer) recallDue(from *checkpoint.Checkpoint) error {
	if t.state.Due != nil {
		return nil
	}
	t.state.Due = []int{}
	entries, err := checkpoint.List(filepath.Dir(from.Path))
	for _, e := range entries {
		if e.Step <= from.Step {
			t.state.Due = append(t.state.Due, e.Step)
		}
	}
	return err
}

// checkNew refuses a new run where an earlier one has left something that it would replace, or with weights to start
// from that don't fit.
func (t *trainer) checkNew() error {
	if err := t.findStart(); err != nil {
		return err
	}
	dir := t.cfg.Run.CheckpointDir
	entries, err := checkpoint.List(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("checkpoint_dir %s holds a run already, up to %s: go on with --resume auto, or choose another checkpoint_dir for a new run",
			dir, filepath.Base(entries[len(entries)-1].Path))
	}
	return t.refuseAverage()
}

// openNewest opens the newest whole checkpoint of checkpoint_dir; nil: there is none yet, and a new run begins.
func (t *trainer) openNewest() (*checkpoint.Checkpoint, error) {
	dir := t.cfg.Run.CheckpointDir
	from, damaged, err := checkpoint.Latest(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range damaged {
		t.report.say("WARNING: passed over the checkpoint %v", d)
	}
	if from == nil && len(damaged) > 0 {
		return nil, fmt.Errorf("none of the checkpoints in %s is whole: nothing to go on from; to start anew choose another checkpoint_dir", dir)
	}
	if from == nil {
		t.report.say("resume auto: no checkpoint in %s yet: a new run", dir)
		return nil, t.refuseAverage()
	}
	return from, nil
}

// openNamed opens a checkpoint by its path. A run that goes back would mix its checkpoints with the later ones, and have
// its own removed as old; one from elsewhere would mix them with those of another run.
func (t *trainer) openNamed(path string) (*checkpoint.Checkpoint, error) {
	dir := t.cfg.Run.CheckpointDir
	from, err := checkpoint.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	entries, err := checkpoint.List(dir)
	if err != nil {
		return nil, err
	}
	n, elsewhere := len(entries), !t.inside(from.Path)
	switch {
	case n > 0 && elsewhere:
		return nil, fmt.Errorf("resume from %s: checkpoint_dir %s holds another run's checkpoints, up to %s: choose another checkpoint_dir, "+
			"or go on with these by --resume auto", from.Path, dir, filepath.Base(entries[n-1].Path))
	case n > 0 && entries[n-1].Step > from.Step:
		return nil, fmt.Errorf("resume from %s: checkpoint_dir %s holds later checkpoints, up to %s: choose another checkpoint_dir, or move these away",
			from.Path, dir, filepath.Base(entries[n-1].Path))
	case elsewhere:
		return from, t.refuseAverage()
	}
	return from, nil
}

// refuseAverage keeps a new run from replacing the averaged weights of an earlier one.
func (t *trainer) refuseAverage() error {
	dir := filepath.Join(t.cfg.Run.CheckpointDir, averagedDir)
	entries, err := checkpoint.List(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s holds the averaged weights of an earlier run, which this one would replace: move that folder away, or choose another checkpoint_dir", dir)
	}
	return err
}

// findStart reads the state of the checkpoint that init_from names, or whose model.safetensors it names, and refuses one
// of another network or of other sound and text settings. A bare file has no state: its tensors alone decide.
func (t *trainer) findStart() error {
	path := t.cfg.Run.InitFrom
	if path == "" {
		return nil
	}
	dir := path
	if filepath.Base(path) == checkpoint.ModelFile {
		dir = filepath.Dir(path)
	}
	if _, err := os.Stat(filepath.Join(dir, checkpoint.StateFile)); err != nil {
		return nil
	}
	c, err := checkpoint.Open(dir)
	switch {
	case err != nil && dir == path:
		return fmt.Errorf("init_from: %w", err)
	case err != nil:
		t.report.say("WARNING: init_from: the checkpoint around %s is damaged, so its vocabulary and settings are not looked at: %v", path, err)
		return nil
	}
	var s state
	if err := c.State(&s); err != nil {
		return fmt.Errorf("init_from: %w", err)
	}
	if s.Format != stateFormat || s.Vocabulary == nil {
		return fmt.Errorf("init_from: %s has format %d, this version of konkanitrain reads %d", c.Path, s.Format, stateFormat)
	}
	if _, err := sameRun(s.Config, t.cfg); err != nil {
		return fmt.Errorf("init_from: %s: %w", c.Path, err)
	}
	t.source = &s
	return nil
}

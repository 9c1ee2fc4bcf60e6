package recognize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
)

// AveragedDir is the folder in a checkpoint_dir where a run keeps the mean of its last weights.
const AveragedDir = "averaged"

// found is a model on disk, described and not yet loaded.
type found struct {
	path        string // as it is shown
	file        string // the safetensors file
	description *Description
	load        func([]checkpoint.Tensor) error // its weights
	state       json.RawMessage                 // of its checkpoint; nil of a lone file
}

// finder looks for a model. It warns of each thing once, however often it has to look.
type finder struct {
	log     io.Writer
	said    map[string]bool
	missing string // the best checkpoint, when it was looked for last and was not there
}

func (f *finder) warn(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !f.said[s] {
		f.said[s] = true
		fmt.Fprintln(f.log, "WARNING:", s)
	}
}

// find says which model is meant by a path: see [Load].
func (f *finder) find(path string) (*found, error) {
	stat, err := os.Stat(path)
	if err == nil && stat.IsDir() && !isThere(path, checkpoint.StateFile) && !isThere(path, checkpoint.ModelFile) {
		return f.choose(path)
	}
	return at(path)
}

func isThere(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// Describe reads what a model says of itself, without loading it. path is a checkpoint's folder, which is checked as a
// whole, or a model's file. The error of a file that says nothing wraps [ErrNoDescription].
func Describe(path string) (*Description, error) {
	f, err := at(path)
	if err != nil {
		return nil, err
	}
	return f.description, nil
}

// Find is Describe for all paths that [Load] takes: of a checkpoint_dir it describes the model that Load would choose.
// Warnings go to log.
func Find(path string, log io.Writer) (*Description, error) {
	s, err := Open(path, log)
	if err != nil {
		return nil, err
	}
	return s.Description, nil
}

// at is the model at a path: a checkpoint's folder, a file, or a folder with that file and without trainer.json. The
// model's file in a checkpoint's folder is checked as that checkpoint is: its checksum is known.
func at(path string) (*found, error) {
	if dir := filepath.Dir(path); filepath.Base(path) == checkpoint.ModelFile && isThere(dir, checkpoint.StateFile) {
		f, err := at(dir)
		if err != nil {
			return nil, fmt.Errorf("%w (%s is checked with the checkpoint around it; a copy of it elsewhere is taken as it is)", err, path)
		}
		f.path = path
		return f, nil
	}
	if isThere(path, checkpoint.StateFile) {
		c, err := checkpoint.Open(path)
		if err != nil {
			return nil, err
		}
		return describe(c)
	}
	m, err := checkpoint.OpenModel(path)
	if err != nil {
		return nil, err
	}
	d, err := Decode(m.Description())
	if errors.Is(err, ErrNoDescription) {
		err = fmt.Errorf("%w; for an older model give its checkpoint's folder, with %s in it", err, checkpoint.StateFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	return &found{path: path, file: m.Path, description: d, load: m.LoadWeights}, nil
}

// describe reads what a checkpoint's model says of itself, or else what its state says.
func describe(c *checkpoint.Checkpoint) (*found, error) {
	metadata, err := checkpoint.Describe(c.Path)
	if err != nil {
		return nil, err
	}
	d, err := Decode(metadata)
	if errors.Is(err, ErrNoDescription) {
		d, err = fromState(c.RawState())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	return &found{path: c.Path, file: filepath.Join(c.Path, checkpoint.ModelFile), description: d, load: c.LoadModel, state: c.RawState()}, nil
}

// standing is what a checkpoint's state says of the run's other checkpoints.
type standing struct {
	Best      json.RawMessage `json:"best"`      // the best validation so far
	BestStep  int             `json:"best_step"` // when that was
	AverageOf string          `json:"average_of"`
}

func standingOf(c *checkpoint.Checkpoint) (standing, error) {
	var s standing
	if err := json.Unmarshal(c.RawState(), &s); err != nil {
		return s, fmt.Errorf("%s: the checkpoint's state is damaged: %w", c.Path, err)
	}
	return s, nil
}

// choose finds what the run in a checkpoint_dir came to.
func (f *finder) choose(dir string) (*found, error) {
	newest, damaged, err := checkpoint.Latest(dir)
	for _, d := range damaged {
		f.warn("passed over the checkpoint %v", d)
	}
	if err != nil {
		return nil, err
	}
	if newest == nil {
		return nil, fmt.Errorf("%s is neither a checkpoint (a folder step-... with %s) nor a model (a folder with %s, or such a file) "+
			"nor a folder with checkpoints", dir, checkpoint.StateFile, checkpoint.ModelFile)
	}
	if a := f.averaged(dir, newest); a != nil {
		return a, nil
	}
	s, err := standingOf(newest)
	if err != nil {
		return nil, err
	}
	best := filepath.Join(dir, checkpoint.Name(s.BestStep))
	if len(s.Best) == 0 || string(s.Best) == "null" || s.BestStep == newest.Step {
		return describe(newest)
	}
	c, err := checkpoint.Open(best)
	if errors.Is(err, fs.ErrNotExist) && f.missing != best {
		f.missing = best
		return nil, err // it may have been removed for a better one, which the next look shows
	}
	if err != nil {
		f.warn("the best checkpoint can't be used, taking the newest: %v", err)
		return describe(newest)
	}
	return describe(c)
}

// averaged is the averaged weights in a checkpoint_dir with this newest checkpoint; nil where there are none, or where
// they belong to another end of training.
func (f *finder) averaged(dir string, newest *checkpoint.Checkpoint) *found {
	path := filepath.Join(dir, AveragedDir, checkpoint.Name(newest.Step))
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	c, err := checkpoint.Open(path)
	if err != nil {
		f.warn("the averaged weights can't be used: %v", err)
		return nil
	}
	s, err := standingOf(c)
	if err == nil && s.AverageOf != newest.ModelSHA256 {
		return nil
	}
	var a *found
	if err == nil {
		a, err = describe(c)
	}
	if err != nil {
		f.warn("the averaged weights can't be used: %v", err)
		return nil
	}
	return a
}

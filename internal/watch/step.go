package watch

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// StepFile is the file in checkpoint_dir that holds a Step.
const StepFile = "memory.json"

// mostStepBytes is the largest Step that is read.
const mostStepBytes = 1 << 20

// Step is the memory of a run over one step of training, its largest, as it was planned: who holds what in the arena of
// each worker, from kernel call to kernel call. Amounts are bytes.
type Step struct {
	Program string   `json:"program"` // "2 rows of 8.0 s, 80 tokens, ..."
	Workers int      `json:"workers"` // each has an arena
	Arena   int64    `json:"arena"`   // its size
	Kernels int      `json:"kernels"` // kernel calls of the step
	Parts   []Part   `json:"parts"`
	Fixed   []Amount `json:"fixed"` // what is held all the time beside arenas

	// Where the run has its records, if that isn't its checkpoint_dir: the folder, from the root, and its name there.
	// Viewers don't get to know.
	Logs string `json:"log_dir,omitempty"`
	Run  string `json:"run,omitempty"`
}

// Part is a part of the network with what it holds in the arena: the most in each of up to a few hundred stretches of
// the step, which are as long as each other.
type Part struct {
	Name string  `json:"name"`
	Kind int     `json:"kind"` // which color it has
	Held []int64 `json:"held"`
}

// Amount is what somebody holds.
type Amount struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// readStep reads the step of a run where there is one and it isn't known.
func (r *shown) readStep() {
	if r.Dir == "" {
		return
	}
	path := filepath.Join(r.Dir, StepFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.step, r.stepFile = nil, nil
		return
	case err != nil:
		return
	case r.stepFile != nil && os.SameFile(info, r.stepFile) && info.ModTime().Equal(r.stepFile.ModTime()):
		return
	}
	if step, err := readStep(path); err == nil {
		step.Logs, step.Run = "", ""
		r.step, r.stepFile = step, info
	}
}

// readStep reads a file of a step.
func readStep(path string) (*Step, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe would keep everybody waiting
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var step Step
	if err := json.NewDecoder(io.LimitReader(f, mostStepBytes)).Decode(&step); err != nil {
		return nil, err
	}
	return &step, nil
}

package watch

import (
	"encoding/json"
	"errors"
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
	case err != nil || !info.Mode().IsRegular() || info.Size() > mostStepBytes:
		return
	case r.stepFile != nil && os.SameFile(info, r.stepFile) && info.ModTime().Equal(r.stepFile.ModTime()):
		return
	}
	text, err := os.ReadFile(path)
	var step Step
	if err == nil && json.Unmarshal(text, &step) == nil {
		r.step, r.stepFile = &step, info
	}
}

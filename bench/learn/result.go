package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// key tells runs apart. A run whose flags or preset have changed is another run.
type key struct {
	Task   string `json:"task"`
	Fold   string `json:"fold,omitempty"`
	Recipe string `json:"recipe"`
	Seed   uint64 `json:"seed"`
	Flags  string `json:"flags"`  // over the preset
	Preset string `json:"preset"` // the first digits of a SHA-256 of the preset's settings
}

// result is what came of a run: a line of the results.
type result struct {
	key
	What    string  `json:"what"`           // the recipe in words
	Over    string  `json:"over,omitempty"` // the recipe that it is compared with
	Program string  `json:"program"`        // its revision
	Workers int     `json:"workers"`        // cores that the run computed on
	Failed  string  `json:"failed,omitempty"`
	score           // of the test set, once, with the run's final weights
	Weights string  `json:"weights,omitempty"` // which these are
	More    []more  `json:"more,omitempty"`    // further test sets, with the same weights
	Updates int     `json:"updates,omitempty"`
	CPU     float64 `json:"cpu_s_per_update,omitempty"` // processor time, user's and system's, of the whole process
	Seconds float64 `json:"seconds,omitempty"`          // of training and validation, by the clock
	Losses  curve   `json:"loss_curve,omitempty"`       // mean per utterance in nats, of training
	CERs    curve   `json:"cer_curve,omitempty"`        // percent, of validation
}

// score is what a test set says, in percent.
type score struct {
	WER    float64 `json:"wer"`
	CER    float64 `json:"cer"`
	Exact  float64 `json:"exact"`  // utterances that are all right: of single words, words right
	Blanks float64 `json:"blanks"` // frames
}

// more is the score of a further test set.
type more struct {
	Name string `json:"name"`
	score
}

// results are the results file, with what it already holds.
type results struct {
	path string
	list []result
	torn int // bytes of a last line that was cut off: the next result takes its place
}

// openResults reads a results file, which need not be there.
func openResults(path string) (*results, error) {
	r := &results{path: path}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	number := 0
	for row := range bytes.Lines(text) {
		number++
		var one result
		if err := json.Unmarshal(row, &one); err != nil {
			if !bytes.HasSuffix(row, []byte("\n")) {
				r.torn = len(row)
				break
			}
			return nil, fmt.Errorf("%s:%d: no result: %w", path, number, err)
		}
		if one.Task == "" || one.Recipe == "" {
			return nil, fmt.Errorf("%s:%d: no result: task or recipe is missing", path, number)
		}
		r.list = append(r.list, one)
	}
	return r, nil
}

// add appends a result to the file.
func (r *results) add(one result) error {
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	if size := stat.Size() - int64(r.torn); size > 0 {
		if err := f.Truncate(size); err != nil {
			return err
		}
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte("\n"), text...)
		}
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		return err
	}
	r.torn = 0
	r.list = append(r.list, one)
	return f.Sync()
}

// done says whether a run has its result. One that failed has none.
func (r *results) done(k key) bool {
	for i := len(r.list) - 1; i >= 0; i-- {
		if r.list[i].key == k {
			return r.list[i].Failed == ""
		}
	}
	return false
}

// latest are the results that count: of each task and recipe those with the flags and the preset of the last one in the
// file, and of each fold and seed the last.
func latest(list []result) []result {
	type group struct{ task, recipe string }
	type run struct {
		group
		fold string
		seed uint64
	}
	flags, last := map[group][2]string{}, map[run]int{}
	for i, r := range list {
		g := group{r.Task, r.Recipe}
		flags[g] = [2]string{r.Flags, r.Preset}
		last[run{g, r.Fold, r.Seed}] = i
	}
	var kept []result
	for i, r := range list {
		g := group{r.Task, r.Recipe}
		if flags[g] == [2]string{r.Flags, r.Preset} && last[run{g, r.Fold, r.Seed}] == i {
			kept = append(kept, r)
		}
	}
	return kept
}

// name is a run in messages.
func (k key) name() string {
	task := k.Task
	if k.Fold != "" {
		task += "/" + k.Fold
	}
	return fmt.Sprintf("%-18s %-24s seed %d", task, k.Recipe, k.Seed)
}

// folder is the run's place below the runs.
func (k key) folder() string {
	return filepath.Join(strings.TrimSuffix(k.Task+"-"+k.Fold, "-"), k.Recipe, fmt.Sprint(k.Seed))
}

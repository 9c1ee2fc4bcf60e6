package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"konkanitrain/data"
	"konkanitrain/internal/control"
	"konkanitrain/internal/scores"
)

// Source is where a run is found.
type Source struct {
	Name string // what it is called on the page
	Logs string // folder of metrics.jsonl and validations.jsonl
	Run  string // the run's name in these files, "" where they are its own
	Dir  string // checkpoint_dir, where memory.json is and a run in progress answers; "" if it isn't known

	// Info is what a run of this process holds now, nil before it has begun. Where it isn't set the run is another
	// process's, or none, and is asked in Dir. It is called from other goroutines.
	Info func() *control.Info
	// Find finds a worst utterance in a set that is loaded, nil if it isn't there. Where it isn't set the recording is
	// looked for by its path, which those in archives don't have. It is called from other goroutines.
	Find func(*scores.Utterance) *data.Utterance
}

// Is says whether two are the same run.
func (s Source) Is(other Source) bool {
	one, wrong := filepath.Abs(s.Logs)
	two, err := filepath.Abs(other.Logs)
	return wrong == nil && err == nil && one == two && s.Run == other.Run
}

// Sources are the runs of a folder: that of a checkpoint_dir, which may have its records in a log_dir, or those that
// write to a log_dir.
func Sources(dir string) ([]Source, error) {
	if step, err := readStep(filepath.Join(dir, StepFile)); err == nil && step.Logs != "" {
		if _, err := os.Stat(filepath.Join(step.Logs, metricsFile)); err == nil {
			return []Source{{Name: filepath.Clean(dir), Logs: step.Logs, Run: step.Run, Dir: dir}}, nil
		}
	}
	f, err := os.Open(filepath.Join(dir, metricsFile))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("no run to show: %w", err)
		}
		return nil, fmt.Errorf("no run to show: there is no %s in %s: name a run's checkpoint_dir, or its log_dir where it has one", metricsFile, dir)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", f.Name())
	}
	var names []string
	for in := bufio.NewReader(f); ; {
		text, err := in.ReadBytes('\n')
		var r record
		if !bytes.HasPrefix(text, updateHead) && json.Unmarshal(text, &r) == nil && r.Event == "start" && !slices.Contains(names, r.Run) {
			names = append(names, r.Run)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no run to show: %s has no record that begins one", f.Name())
	}
	alike := map[string]int{} // how many folders have a name
	for _, name := range names {
		alike[filepath.Base(name)]++
	}
	var list []Source
	for _, name := range names {
		s := Source{Name: filepath.Clean(dir), Logs: dir, Run: name, Dir: dir}
		if name != "" { // one of several, called as its checkpoint_dir
			if s.Name, s.Dir = filepath.Join(dir, filepath.Base(name)), name; alike[filepath.Base(name)] > 1 {
				s.Name = name
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// shown is a run that is shown.
type shown struct {
	Source
	history     *history
	validations *validations
	step        *Step
	stepFile    os.FileInfo // that step was read from
	info        *control.Info
	asked       time.Time       // when info was had
	memory      *answer         // info and step, until info is asked for again
	wrong       string          // why what is shown may not be all
	worst       map[int]*answer // by update, while no validation is new
}

func newShown(s Source) *shown {
	return &shown{Source: s, history: newHistory(s.Logs, s.Run), validations: newValidations(s.Logs, s.Run), worst: map[int]*answer{}}
}

// read takes up what is new, and says whether something is.
func (r *shown) read() (changed bool) {
	before, had, wrong := r.history.version, r.validations.version, r.wrong
	live := r.info != nil
	err := errors.Join(r.history.read(), r.validations.read())
	if r.wrong = ""; err != nil {
		r.wrong = err.Error()
	}
	if r.ask(); r.validations.version != had {
		clear(r.worst)
	}
	return r.history.version != before || r.validations.version != had || r.wrong != wrong || (r.info != nil) != live
}

const (
	askEvery = 2 * time.Second // for all viewers
	askWait  = time.Second
)

// ask has the run say what it holds, unless that is known.
func (r *shown) ask() {
	if time.Since(r.asked) < askEvery {
		return
	}
	r.info, r.memory, r.asked = nil, nil, time.Now()
	switch {
	case r.Info != nil:
		r.info = r.Info()
	case r.Dir != "" && control.Listens(r.Dir):
		ctx, cancel := context.WithTimeout(context.Background(), askWait)
		defer cancel()
		response, err := control.Ask(ctx, r.Dir, control.Request{Ask: control.AskInfo})
		if err != nil { // it may be stopped: nobody waits for it all the time
			r.asked = time.Now().Add(4 * askEvery)
			return
		}
		r.info = response.Info
	}
}

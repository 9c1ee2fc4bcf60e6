package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"konkanitrain/checkpoint"
)

// What a killed run has written into metrics.jsonl behind its last checkpoint is made again by the run that goes on.
// Removing it first has every update and every validation stand there once.

// place is where in its metrics a run goes on; zero for one that was killed before its first checkpoint.
type place struct {
	updates int // made; records of other things up to here stay
	logged  int // update records up to here stay; the figures of later ones are a part of the state
	judged  int // validation records up to here stay
}

// behind says whether a record is of something after the place.
func (p place) behind(l *metricsLine) bool {
	switch l.Event {
	case "update":
		return l.Update > p.logged
	case "validation":
		return l.Update > p.judged
	}
	return l.Update > p.updates
}

// metricsLine is what a line of metrics.jsonl says of its place.
type metricsLine struct {
	Event, Time, Run string
	Update           int
	ResumedAt        *int   `json:"resumed_at"`
	LoggedAt         *int   `json:"logged_at"`
	From             string `json:"from"`

	start, end int64 // of the line in the file, in bytes
	gone       bool  // it is removed
}

// forget removes the records behind the place of a run that goes on, and says how many, and of which update the last
// update record is that stays. What isn't this run's stays: other runs' records, those of earlier runs in the same
// place, and lines that are no record at all. Where another run is writing to the file nothing is removed.
func forget(dir, run string, p place) (removed, last int, err error) {
	return forgetIn(filepath.Join(dir, metricsFile), run, p)
}

// forgetIn is forget for a file of records.
func forgetIn(path, run string, p place) (removed, last int, err error) {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file // a link stays one
	}
	err = checkpoint.Alone(path, func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var gone []*metricsLine
		if gone, last, err = findBehind(f, run, p); err != nil || len(gone) == 0 {
			return err
		}
		removed = len(gone)
		return checkpoint.ReplaceFile(path, func(w io.Writer) error { return copyWithout(w, f, gone) })
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	return removed, last, err
}

// findBehind finds the lines to remove, in their order, and the update of the last update record that stays.
func findBehind(f io.Reader, run string, p place) (gone []*metricsLine, last int, err error) {
	var own []*metricsLine // of this run, since it began
	in := bufio.NewReader(f)
	for at := int64(0); ; {
		text, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		l := metricsLine{start: at, end: at + int64(len(text))}
		at = l.end
		switch wrong := json.Unmarshal(text, &l); {
		case wrong != nil && err == io.EOF && run == "" && bytes.HasPrefix(text, []byte(recordHead)):
			l.gone = true // the last record was cut; nobody can read it
			own = append(own, &l)
		case wrong != nil || l.Event == "" || l.Time == "" || l.Run != run:
		case l.Event == "start" && (l.ResumedAt == nil || l.From != ""):
			own = nil // what is before it is an earlier run's
		case l.Event == "start":
			passed := place{*l.ResumedAt, *l.ResumedAt, *l.ResumedAt}
			if l.LoggedAt != nil {
				passed.logged = *l.LoggedAt
			}
			markBehind(own, passed) // what could not be removed then
		default:
			own = append(own, &l)
		}
		if err == io.EOF {
			break
		}
	}
	saved := func(l *metricsLine) bool { return l.Event == "save" }
	if p.updates == 0 && slices.ContainsFunc(own, saved) {
		return nil, 0, nil // this run begins where one was whose checkpoints somebody has removed: that was another one
	}
	markBehind(own, p)
	for _, l := range own {
		if l.gone {
			gone = append(gone, l)
		} else if l.Event == "update" {
			last = l.Update
		}
	}
	return gone, last, nil
}

// markBehind marks the records behind a place. Those that have no update, of an end of training, go with the updates
// before them.
func markBehind(own []*metricsLine, p place) {
	beyond := false
	for _, l := range own {
		if p.behind(l) || beyond && (l.Event == "test" || l.Event == "average") {
			l.gone = true
			beyond = beyond || l.Update > p.updates
		}
	}
}

// copyWithout copies a file without some of its lines.
func copyWithout(w io.Writer, f io.ReadSeeker, gone []*metricsLine) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	at := int64(0)
	for _, l := range gone {
		if _, err := io.CopyN(w, f, l.start-at); err != nil {
			return err
		}
		var err error
		if at, err = f.Seek(l.end, io.SeekStart); err != nil {
			return err
		}
	}
	_, err := io.Copy(w, f)
	return err
}

// forgetMetrics removes what is behind the checkpoint that the run goes on from, with a word. A new run and one that
// goes on in another folder have nothing there.
func (r *run) forgetMetrics() {
	from := r.ledger.origin.Checkpoint
	if r.cfg.Run.Resume == "" || from != nil && !r.ledger.inside(from.Path) {
		return
	}
	r.forgetValidations()
	at := r.ledger.place.updates
	removed, last, err := forget(r.logDir(), r.logRun(), r.ledger.place)
	if err != nil {
		r.report.say("WARNING: records in metrics.jsonl of what came after update %d stay, and it is made again: %v", at, err)
		r.meter.shown = at
		return
	}
	r.meter.shown = last
	if removed > 0 {
		r.report.say("metrics.jsonl: the records of what came after update %d are removed (%d): it is made again", at, removed)
	}
}

// logRun tells this run's records from those of others in a log_dir of its own; "" in checkpoint_dir, which no other
// run uses.
func (r *run) logRun() string {
	dir := r.cfg.Run.CheckpointDir
	logs, errLogs := os.Stat(r.logDir())
	own, errOwn := os.Stat(dir)
	if r.cfg.Run.LogDir == "" || errLogs == nil && errOwn == nil && os.SameFile(logs, own) {
		return ""
	}
	if whole, err := filepath.Abs(dir); err == nil {
		return whole
	}
	return dir
}

package train

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/mlflow"
)

// A server of MLflow is told what metrics.jsonl says, and which run it is lies in checkpoint_dir: a resumed run is the
// same one there.

// trackedFile says which run it is.
const trackedFile = "mlflow.json"

// tracked is its content.
type tracked struct {
	Server string `json:"server"`
	Run    string `json:"run_id"`
}

// lastWait is how long the end of a run waits for the server.
const lastWait = 5 * time.Second

// tracked says whether a server is told of the run.
func (c RunConfig) tracked() bool { return c.MLflow != "" && !c.measuring() }

// openTracker begins to tell the server.
func (r *run) openTracker() (err error) {
	if !r.cfg.Run.tracked() {
		return nil
	}
	dir := r.cfg.Run.CheckpointDir
	path := filepath.Join(dir, trackedFile)
	o := mlflow.Options{
		Server: r.cfg.Run.MLflow, Experiment: r.cfg.Run.MLflowExp, Name: runName(dir), Params: paramsOf(r.ledger.state.Config), Tags: tagsOf(),
		History: history(filepath.Join(r.logDir(), metricsFile), r.logRun()),
		Began: func(id string) error {
			r.trackedID.Store(&id)
			return r.keepTracked()
		},
	}
	if from := r.ledger.origin.Checkpoint; from != nil && r.ledger.inside(from.Path) {
		if o.RunID, err = trackedRun(path, o.Server); err != nil {
			return err
		}
		r.trackedID.Store(&o.RunID)
	}
	r.status = mlflow.Failed // unless it comes to another end
	r.tracker, err = mlflow.Start(o)
	return err
}

// keepTracked writes down which run it is at the server, as soon as that is known.
func (r *run) keepTracked() error {
	id := r.trackedID.Load()
	if id == nil || *id == "" {
		return nil
	}
	content, err := json.Marshal(tracked{r.cfg.Run.MLflow, *id})
	if err != nil {
		return err
	}
	return checkpoint.ReplaceFile(filepath.Join(r.cfg.Run.CheckpointDir, trackedFile), func(w io.Writer) error {
		_, err := w.Write(append(content, '\n'))
		return err
	})
}

// trackedRun is the id of the run at the server; "" where it isn't known there.
func trackedRun(path, server string) (string, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var t tracked
	if err == nil {
		err = json.Unmarshal(content, &t)
	}
	if err != nil {
		return "", errors.Join(errors.New("mlflow: "+path+" should say which run of the server this is; remove it, and the run begins anew there"), err)
	}
	if t.Server != server {
		return "", nil
	}
	return t.Run, nil
}

// track tells of a record, and says what is new of the server.
func (r *run) track(p *points) {
	if r.tracker == nil {
		return
	}
	r.tracker.Add(metricsOf(p, r.updater.Updates)...)
	r.sayTracked()
}

func (r *run) sayTracked() {
	for _, line := range r.tracker.News() {
		r.report.say("%s", line)
	}
}

// closeTracker tells the server the run's end.
func (r *run) closeTracker() {
	if r.tracker != nil {
		r.tracker.Close(r.status, lastWait)
		r.sayTracked()
		r.tracker = nil
	}
}

// statusOf is what MLflow calls the end of a run.
func statusOf(err error) mlflow.Status {
	switch {
	case err == nil:
		return mlflow.Finished
	case errors.Is(err, ErrInterrupted) || errors.Is(err, context.Canceled):
		return mlflow.Killed
	}
	return mlflow.Failed
}

// metricsOf are the points of a record, which if it doesn't say so is of an update.
func metricsOf(p *points, update int) []mlflow.Metric {
	if p.update >= 0 {
		update = p.update
	}
	list := make([]mlflow.Metric, len(p.list))
	for i, x := range p.list {
		list[i] = mlflow.Metric{Key: x.curve, Value: x.value, Time: p.time.UnixMilli(), Step: int64(update)}
	}
	return list
}

// runName is how a run in a folder is called.
func runName(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return filepath.Base(dir)
}

// paramsOf are the settings that have a value, as texts.
func paramsOf(settings json.RawMessage) map[string]string {
	var all map[string]json.RawMessage
	params := map[string]string{}
	if json.Unmarshal(settings, &all) != nil {
		return params
	}
	for key, value := range all {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if text != "" && text != "[]" {
			params[key] = text
		}
	}
	return params
}

// tagsOf are what MLflow's own clients say of who runs: the program, and the revision of its source where that is
// known.
func tagsOf() map[string]string {
	tags := map[string]string{"mlflow.source.name": "konkanitrain", "mlflow.source.type": "LOCAL"}
	if info, ok := debug.ReadBuildInfo(); ok {
		tags["konkanitrain.version"] = cmp.Or(info.Main.Version, "(devel)")
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				tags["mlflow.source.git.commit"] = s.Value
			case "vcs.modified":
				tags["konkanitrain.modified"] = s.Value
			}
		}
	}
	return tags
}

// history is what metrics.jsonl says of a run since it began, as points. Each use reads the file anew.
func history(path, run string) iter.Seq2[mlflow.Metric, error] {
	return func(yield func(mlflow.Metric, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(mlflow.Metric{}, err)
			return
		}
		defer f.Close()
		start := int64(0)
		err = eachLine(f, func(at int64, line []byte) bool {
			var l metricsLine
			if bytes.HasPrefix(line, []byte(recordHead+"start")) && json.Unmarshal(line, &l) == nil && l.Run == run && (l.ResumedAt == nil || l.From != "") {
				start = at
			}
			return true
		})
		if err == nil {
			_, err = f.Seek(start, io.SeekStart)
		}
		goesOn, update := true, 0
		if err == nil {
			err = eachLine(f, func(_ int64, line []byte) bool {
				p := pointsOf(line)
				if p == nil || p.run != run {
					return true
				}
				update = max(update, p.update)
				for _, m := range metricsOf(p, update) {
					if goesOn = yield(m, nil); !goesOn {
						return false
					}
				}
				return true
			})
		}
		if err != nil && goesOn {
			yield(mlflow.Metric{}, err)
		}
	}
}

// eachLine calls take for each line from where a file stands, with its place in what is read, until it returns false.
func eachLine(f io.Reader, take func(at int64, line []byte) bool) error {
	in := bufio.NewReader(f)
	for at := int64(0); ; {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil // a line without an end is one that is being written
		}
		if err != nil {
			return err
		}
		if !take(at, line) {
			return nil
		}
		at += int64(len(line))
	}
}

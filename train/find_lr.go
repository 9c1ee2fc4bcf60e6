package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/rangetest"
	"konkanitrain/update"
)

// finding is a learning rate range test, which takes the place of training where find_lr is set: the same updates, of
// the same windows, with the rates of package rangetest. It goes on over as many epochs as it needs, and the weights
// that it spoils are never saved.
type finding struct {
	test      rangetest.Test
	end       string // why it is over; "" while it goes on
	overflows int    // windows in a row whose gradient was not finite
}

// The files of a result, in log_dir.
const (
	findJSON = "find_lr.json"
	findPage = "find_lr.html"
)

// add takes what became of a window. That the loss or the weights are no finite numbers any more ends the test, and is
// no error: rates that do this are what it looks for. In half precision a gradient that is not finite may be due to the
// loss scale, unless it comes again and again after updates that were made.
func (f *finding) add(r *run, out update.Outcome, err error) error {
	var diverged *update.DivergedError
	switch {
	case errors.As(err, &diverged):
		f.end = rangetest.NotFinite
		return nil
	case err != nil:
		return err
	case out.Skipped == update.NotFiniteGradient:
		f.overflows++
		if !r.cfg.Run.FP16 || f.overflows >= mostSkips && len(f.test.Points) > 0 {
			f.end = rangetest.NotFinite
		}
	case out.Skipped == update.Made:
		f.overflows = 0
		if f.test.Add(rangetest.Point{Rate: r.updater.LR, Loss: out.Loss, Audio: out.Audio}) {
			f.end = rangetest.Diverged
		} else if r.made() == rangetest.Updates {
			f.end = rangetest.Complete
		}
	}
	return nil
}

// broken says that the last window was one of numbers that are not finite: there is nothing to note of it.
func (f *finding) broken() bool { return f.end == rangetest.NotFinite }

// epochs is the number of the epoch in which the session ends, if nothing ends it before.
func (r *run) epochs() int {
	if r.finding == nil {
		return r.cfg.Optimizer.NumEpochs
	}
	p, windows := &r.ledger.state.Progress, r.sets.loader.Windows()
	return p.Epoch + (p.Window+rangetest.Updates+windows-1)/windows
}

// showFound shows what the range test has found, and writes it into log_dir.
func (r *run) showFound() error {
	r.report.close()
	start := rangetest.NewWeights
	switch from := r.ledger.origin.Checkpoint; {
	case from != nil:
		start = from.Path
	case r.cfg.Run.InitFrom != "":
		start = r.cfg.Run.InitFrom
	}
	result := r.finding.test.Judge(start, cmp.Or(r.finding.end, rangetest.Interrupted))
	r.report.say("%v", result)
	if result.Suggested > 0 {
		r.report.say("to train with it, give --learning_rate %g in place of --find_lr", result.Suggested)
	}
	if result.Updates == 0 {
		return nil
	}
	if err := r.writeFound(result); err != nil {
		return fmt.Errorf("log_dir: %w", err)
	}
	r.report.say("written: %s and %s", filepath.Join(r.logDir(), findPage), filepath.Join(r.logDir(), findJSON))
	return nil
}

func (r *run) writeFound(result rangetest.Result) error {
	dir := r.logDir()
	if err := checkpoint.MakeDir(dir); err != nil {
		return err
	}
	return errors.Join(
		checkpoint.ReplaceFile(filepath.Join(dir, findJSON), func(w io.Writer) error { return json.NewEncoder(w).Encode(result) }),
		checkpoint.ReplaceFile(filepath.Join(dir, findPage), func(w io.Writer) error {
			return rangetest.WritePage(w, "Learning rates of "+r.ledger.dir, result)
		}))
}

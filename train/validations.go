package train

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/scores"
	"konkanitrain/recognize"
)

// validationsFile lies beside metrics.jsonl and says of each validation how the errors are spread, and which utterances
// came out worst. Its records have the same form, and go the same way when a run is killed and goes on.
const validationsFile = "validations.jsonl"

// validationLog writes validations.jsonl, and keeps it small.
type validationLog struct {
	metrics
	dir string
}

// mostValidations is the most bytes of a validations.jsonl that a run has for itself. Then the older half goes.
const mostValidations = 8 << 20

// openValidations opens validations.jsonl where the run has something to say there.
func (r *run) openValidations() error {
	if r.sets.val == nil || r.cfg.Run.WorstUtterances == 0 {
		return nil
	}
	m, err := openRecords(r.logDir(), validationsFile, r.logRun())
	if err != nil {
		return err
	}
	r.validations = &validationLog{metrics: *m, dir: r.logDir()}
	return nil
}

// renewValidations begins a new file where the folder was removed with the one in use.
func (r *run) renewValidations() {
	if r.validations.file != nil {
		_ = r.validations.close()
		r.tolerateValidations(r.openValidations())
	}
}

// forgetValidations removes what is behind the checkpoint that the run goes on from. Before the first checkpoint the
// record of the start does: what is before it is not the run's.
func (r *run) forgetValidations() {
	if r.ledger.place.updates == 0 {
		return
	}
	if _, _, err := forgetIn(filepath.Join(r.logDir(), validationsFile), r.logRun(), r.ledger.place); err != nil {
		r.report.say("WARNING: records in %s of what came after update %d stay, and it is made again: %v", validationsFile, r.ledger.place.updates, err)
	}
}

// summarize shows a summary each utterance that is scored.
func summarize(s *scores.Summary) func(recognize.Hypothesis) error {
	return func(h recognize.Hypothesis) error {
		if h.Err != nil {
			s.Fail()
			return nil
		}
		s.Add(h.Scored())
		return nil
	}
}

// recordWorst writes what a summary has of the validation that was just made.
func (r *run) recordWorst(s *scores.Summary) error {
	v, err := s.Validation(r.updater.Updates, r.scores())
	if err != nil {
		return err
	}
	r.recordValidation("validation", v)
	return nil
}

// recordValidation writes a record to validations.jsonl. As with metrics, training doesn't depend on it.
func (r *run) recordValidation(event string, record any) {
	err := r.validations.write(event, record)
	if err == nil {
		err = r.validations.shorten(mostValidations)
	}
	r.tolerateValidations(err)
}

func (r *run) tolerateValidations(err error) {
	if err != nil {
		_ = r.validations.close()
		r.report.say("WARNING: %s can't be written any more, the run goes on without it: %v", validationsFile, err)
	}
}

// shorten removes the older half of a file that has grown beyond most bytes, in whole lines. One that other runs write
// to as well stays.
func (l *validationLog) shorten(most int64) error {
	if l.file == nil {
		return nil
	}
	stat, err := l.file.Stat()
	if err != nil || stat.Size() <= most {
		return err
	}
	run, path := l.run, filepath.Join(l.dir, validationsFile)
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file // a link stays one
	}
	if err := l.close(); err != nil {
		return err
	}
	err = checkpoint.Alone(path, func() error {
		return checkpoint.ReplaceFile(path, func(w io.Writer) error { return copyEnd(w, path, most/2) })
	})
	if err != nil && !errors.Is(err, checkpoint.ErrShared) {
		return err
	}
	m, err := openRecords(l.dir, validationsFile, run)
	if err == nil {
		l.metrics = *m
	}
	return err
}

// copyEnd copies the last lines of a file, at most so many bytes.
func copyEnd(w io.Writer, path string, most int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	in := bufio.NewReader(f)
	if size <= most {
		_, err = f.Seek(0, io.SeekStart)
	} else if _, err = f.Seek(size-most-1, io.SeekStart); err == nil { // a line may begin right behind
		_, err = in.ReadBytes('\n')
	}
	if err == nil {
		_, err = io.Copy(w, in)
	}
	return err
}

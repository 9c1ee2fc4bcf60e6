package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"konkanitrain/checkpoint"
)

// metrics writes what happens as JSON lines, appended to metrics.jsonl: one object a line, with "event" and
// "time" (RFC 3339) in each, and with "run" where several runs may write to the file.
type metrics struct {
	file *os.File // nil: nothing is written
	run  string   // what tells this run's records from others; "" where the file is this run's own
	torn bool     // the file's last line has no end

	tell func(line []byte) // gets each record too, as a line without its end; nil: nobody wants them
}

const (
	metricsFile = "metrics.jsonl"
	recordHead  = `{"event":"` // of every record
)

// openMetrics makes the folder and opens its metrics.jsonl for appending.
func openMetrics(dir, run string) (*metrics, error) { return openRecords(dir, metricsFile, run) }

// openRecords makes the folder and opens a file of records in it for appending. A last line that was cut, by a kill or
// a full disk, stays as it is, and what follows begins a line of its own.
func openRecords(dir, name, run string) (*metrics, error) {
	if err := checkpoint.MakeDir(dir); err != nil {
		return nil, fmt.Errorf("log_dir: %w", err)
	}
	f, err := checkpoint.Share(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("log_dir: %w", err)
	}
	m := &metrics{file: f, run: run}
	if stat, err := f.Stat(); err == nil && stat.Size() > 0 {
		var last [1]byte
		_, err = f.ReadAt(last[:], stat.Size()-1)
		m.torn = err == nil && last[0] != '\n'
	}
	return m, nil
}

// updateMetrics is the record of one or more updates ("update").
type updateMetrics struct {
	Update       int       `json:"update"`
	Epoch        int       `json:"epoch"` // from 1
	Loss         float64   `json:"loss"`  // what is minimized: nats, mean over the utterances since the last record, as are
	CTC          float64   `json:"ctc"`   // with smoothing, behind the encoder's last block; that behind the middle one is in the loss alone
	CE           float64   `json:"ce,omitempty"`
	LearningRate float64   `json:"learning_rate"`
	GradNorm     float64   `json:"grad_norm"` // before clipping, of the last update
	LossScale    float64   `json:"loss_scale,omitempty"`
	Utterances   int       `json:"utterances"` // since the last record
	Seconds      float64   `json:"seconds"`    // since the last record
	Audio        float64   `json:"audio"`      // seconds of sound since the last record
	WaitShare    float64   `json:"wait_share"` // of the time that was spent waiting for data
	Skipped      int       `json:"skipped"`    // windows without an update, in all
	Infeasible   int       `json:"infeasible"` // utterances without a CTC alignment, since the last record
	Memory       memoryNow `json:"memory"`     // bytes
}

// write appends one record. The event's own fields follow "event" and "time".
func (m *metrics) write(event string, record any) error {
	if m.file == nil && m.tell == nil {
		return nil
	}
	head, err := json.Marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
		Run   string `json:"run,omitempty"`
	}{event, time.Now().UTC().Format(time.RFC3339), m.run})
	if err != nil {
		return err
	}
	body, err := json.Marshal(record)
	if err != nil {
		return err
	}
	line := append(head[:len(head)-1], ',')
	if len(body) > 2 { // not {}
		line = append(line, body[1:]...)
	} else {
		line[len(line)-1] = '}'
	}
	if m.tell != nil {
		defer m.tell(line) // which may look into the file
	}
	if m.file == nil {
		return nil
	}
	if m.torn {
		line = append([]byte{'\n'}, line...)
	}
	_, err = m.file.Write(append(line, '\n'))
	m.torn = false
	return err
}

// sync makes what is written durable.
func (m *metrics) sync() error {
	if m.file == nil {
		return nil
	}
	return m.file.Sync()
}

// close ends the writing; what comes after is dropped.
func (m *metrics) close() error {
	if m.file == nil {
		return nil
	}
	err := m.file.Close()
	m.file = nil
	return err
}

// renewMetrics begins a new metrics.jsonl where the folder was removed with the one in use.
func (r *run) renewMetrics() {
	r.renewValidations()
	if r.metrics.file == nil {
		return
	}
	_ = r.metrics.close()
	m, err := openMetrics(r.logDir(), r.logRun())
	if err != nil {
		r.report.say("WARNING: the run goes on without metrics.jsonl: %v", err)
		return
	}
	m.tell = r.tell
	r.metrics = m
}

// record writes a record of metrics. Training doesn't depend on them: where one can't be written, the run says so
// and goes on without.
func (r *run) record(event string, record any) { r.tolerate(r.metrics.write(event, record)) }

// settle makes the records until now durable: none may be lost that a checkpoint goes on behind.
func (r *run) settle() {
	r.tolerate(r.metrics.sync())
	r.tolerateValidations(r.validations.sync())
	r.board.sync(r)
}

func (r *run) tolerate(err error) {
	if err != nil {
		_ = r.metrics.close()
		r.report.say("WARNING: metrics.jsonl can't be written any more, the run goes on without it: %v", err)
	}
}

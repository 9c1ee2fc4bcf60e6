package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// metrics writes what happens as JSON lines, appended to metrics.jsonl: one object a line, with "event" and
// "time" (RFC 3339) in each.
type metrics struct{ file *os.File }

// openMetrics makes the folder and opens its metrics.jsonl for appending.
func openMetrics(dir string) (*metrics, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("log_dir: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "metrics.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("log_dir: %w", err)
	}
	return &metrics{f}, nil
}

// updateMetrics is the record of one or more updates ("update").
type updateMetrics struct {
	Update       int     `json:"update"`
	Epoch        int     `json:"epoch"` // from 1
	Loss         float64 `json:"loss"`  // nats, mean over the utterances since the last record
	CTC          float64 `json:"ctc"`
	CE           float64 `json:"ce,omitempty"`
	LearningRate float64 `json:"learning_rate"`
	GradNorm     float64 `json:"grad_norm"` // before clipping, of the last update
	LossScale    float64 `json:"loss_scale,omitempty"`
	Utterances   int     `json:"utterances"` // since the last record
	Seconds      float64 `json:"seconds"`    // since the last record
	Audio        float64 `json:"audio"`      // seconds of sound since the last record
	WaitShare    float64 `json:"wait_share"` // of the time that was spent waiting for data
	Skipped      int     `json:"skipped"`    // windows without an update, in all
	Infeasible   int     `json:"infeasible"` // utterances without a CTC alignment, since the last record
}

// write appends one record. The event's own fields follow "event" and "time".
func (m *metrics) write(event string, record any) error {
	head, err := json.Marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
	}{event, time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	body, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	line := append(head[:len(head)-1], ',')
	if len(body) > 2 { // not {}
		line = append(line, body[1:]...)
	} else {
		line[len(line)-1] = '}'
	}
	if _, err := m.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

func (m *metrics) close() error { return m.file.Close() }

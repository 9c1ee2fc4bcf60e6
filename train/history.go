package train

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"konkanitrain/recognize"
)

// History is what a checkpoint's state says of the run that made it. What an older checkpoint doesn't record is 0 or
// empty.
type History struct {
	Train    []string `json:"train_manifest"`
	Validate []string `json:"val_manifest"`
	Test     []string `json:"test_manifest"`
	Size     int      `json:"utterances"`       // of the training set
	Sound    float64  `json:"seconds_of_sound"` // of the training set
	Updates  int      `json:"updates"`
	Epochs   float64  `json:"epochs"`     // done, with the share of the last one where its length is known
	Planned  int      `json:"num_epochs"` // to do
	Heard    int64    `json:"heard"`      // utterances, in all epochs
	Took     float64  `json:"seconds"`    // of training
	Skipped  int      `json:"skipped"`    // windows without an update
	Failed   int64    `json:"failed"`     // utterances that could not be read, in all epochs
	Workers  int      `json:"workers"`
	Kernels  string   `json:"kernels"`
	Source   string   `json:"source"`   // the model that it began with; "" for one that began with drawn weights
	Averaged []int    `json:"averaged"` // the updates whose weights these are the mean of; empty for those of one
	Settings []string `json:"settings"` // those that are not the defaults: see [Changed]

	Best       *recognize.Evaluation `json:"best"` // validation so far; nil without one
	BestUpdate int                   `json:"best_update"`

	logs string // log_dir
}

// paths are a setting that was one text in older checkpoints, and is a list now.
type paths []string

// UnmarshalJSON reads a list, or one text.
func (p *paths) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		if *p = nil; one != "" {
			*p = paths{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}

// ReadHistory reads the history out of the state in a trainer.json.
func ReadHistory(saved json.RawMessage) (*History, error) {
	var s state
	var c struct {
		Train     paths  `json:"train_manifest"`
		Validate  paths  `json:"val_manifest"`
		Test      paths  `json:"test_manifest"`
		NumEpochs int    `json:"num_epochs"`
		LogDir    string `json:"log_dir"`
	}
	if err := json.Unmarshal(saved, &s); err != nil {
		return nil, fmt.Errorf("the checkpoint's state: %w", err)
	}
	if err := json.Unmarshal(s.Config, &c); err != nil {
		return nil, fmt.Errorf("the checkpoint's configuration: %w", err)
	}
	changed, err := Changed(s.Config)
	if err != nil {
		return nil, fmt.Errorf("the checkpoint's configuration: %w", err)
	}
	p := &s.Progress
	h := &History{
		Train: c.Train, Validate: c.Validate, Test: c.Test, Size: p.SetSize, Sound: p.SetSeconds, Updates: p.Updates,
		Epochs: float64(p.Epoch), Planned: c.NumEpochs, Heard: p.Utterances, Took: p.Seconds, Skipped: p.Skipped, Failed: p.Failed,
		Workers: p.Workers, Kernels: p.Kernels, Source: s.Source, Averaged: s.Averaged, Settings: changed, Best: s.Best, BestUpdate: s.BestStep,
		logs: c.LogDir,
	}
	if windows := (p.SetSize + p.WindowSize - 1) / max(p.WindowSize, 1); windows > 0 {
		h.Epochs += float64(p.Window) / float64(windows)
	}
	return h, nil
}

// RunScore is a score that a run has recorded.
type RunScore struct {
	Event   string         `json:"event"`             // validation, or test: that of the test set in the end
	Update  int            `json:"update,omitempty"`  // of a validation
	Weights string         `json:"weights,omitempty"` // what was scored in place of the weights
	WER     float64        `json:"wer"`
	CER     float64        `json:"cer"`
	Loss    recognize.Nats `json:"loss"`
}

// Scores reads what a run has recorded of its validations and of its test, from metrics.jsonl in its checkpoint_dir or,
// where that has none, in its log_dir: those since the run began, each once. It is empty where there is no record.
func (h *History) Scores(checkpointDir string) ([]RunScore, error) {
	list := []RunScore{}
	f, run, err := h.openMetrics(checkpointDir)
	if f == nil || err != nil {
		return list, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		var l struct {
			Run, From string
			ResumedAt *int `json:"resumed_at"`
			RunScore
		}
		switch wrong := json.Unmarshal(text, &l); {
		case wrong != nil || l.Run != run:
		case l.Event == "start" && (l.ResumedAt == nil || l.From != ""):
			list = list[:0]
		case l.Event == "start":
			list = upTo(list, *l.ResumedAt)
		case l.Event == "validation" || l.Event == "test":
			list = append(list, l.RunScore)
		}
		if err == io.EOF {
			return list, nil
		}
	}
}

// upTo leaves out what a session that was resumed at an update makes anew.
func upTo(list []RunScore, update int) []RunScore {
	kept := list[:0]
	for _, s := range list {
		if s.Event == "validation" && s.Update <= update {
			kept = append(kept, s)
		}
	}
	return kept
}

// openMetrics opens the run's records, and says by what name they are the run's; the file is nil where there is none.
func (h *History) openMetrics(checkpointDir string) (f *os.File, run string, err error) {
	places := []struct{ dir, run string }{{checkpointDir, ""}}
	if h.logs != "" {
		whole, err := filepath.Abs(checkpointDir)
		if err != nil {
			return nil, "", err
		}
		places = append(places, struct{ dir, run string }{h.logs, whole})
	}
	for _, p := range places {
		if f, err = os.Open(filepath.Join(p.dir, metricsFile)); err == nil {
			return f, p.run, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
	}
	return nil, "", nil
}

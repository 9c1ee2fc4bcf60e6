package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"konkanitrain/checkpoint"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
)

// state is the content of trainer.json: all that a resumed run needs beside the weights and moments.
type state struct {
	Format     int              `json:"format"`
	Config     json.RawMessage  `json:"config"` // by key, as in a YAML file
	Vocabulary *text.Vocabulary `json:"vocabulary"`
	Stats      *feature.Stats   `json:"feature_stats,omitempty"` // of global normalisation
	Parameters int              `json:"parameters"`
	Progress   progress         `json:"progress"`
	LossScale  LossScale        `json:"loss_scale"`
	Due        []int            `json:"due"`                  // updates after which a save was due, the last ones
	Averaged   []int            `json:"averaged,omitempty"`   // updates whose weights these are the mean of; there is no optimizer then
	AverageOf  string           `json:"average_of,omitempty"` // SHA-256 of the model that the run ended with, beside Averaged
	judgement
	// Before is the judgement before a validation that was made because the run had ended, and not because it was
	// due: a run that goes on from here forgets that one, to be the run that never ended here. nil where there was none.
	Before *judgement `json:"before,omitempty"`
}

// judgement is what validations have said.
type judgement struct {
	Score    *Evaluation `json:"score,omitempty"` // the last validation
	Best     *Evaluation `json:"best,omitempty"`
	BestStep int         `json:"best_step,omitempty"`
	Judged   int         `json:"judged"` // update of the last validation; 0: none
	Stale    int         `json:"stale"`  // validations since the best one
}

// forgetBest begins the search for the best anew.
func (j *judgement) forgetBest() { j.Best, j.BestStep, j.Stale = nil, 0, 0 }

// stateFormat is the version of state. It changes when an older program would misread it.
const stateFormat = 1

// progress is a run's place: what has been done and where in the data it stands.
type progress struct {
	Updates    int     `json:"updates"`            // optimizer steps
	Epoch      int     `json:"epoch"`              // from 0: the one being trained on
	Window     int     `json:"window"`             // windows of it that are done
	WindowSize int     `json:"window_size"`        // utterances in a window
	SetSize    int     `json:"set_size,omitempty"` // utterances of the training set
	SetHash    string  `json:"set_hash,omitempty"` // of their ids and lengths: what their order depends on
	Utterances int64   `json:"utterances"`         // in all
	Skipped    int     `json:"skipped"`            // windows without an update
	InARow     int     `json:"in_a_row"`           // of them, the last ones without a good update between
	Infeasible int64   `json:"infeasible"`
	Failed     int64   `json:"failed"` // files that could not be read
	Workers    int     `json:"workers"`
	Kernels    string  `json:"kernels,omitempty"` // what computed it
	Seconds    float64 `json:"seconds"`           // of training, over all sessions
}

// settings is a configuration by key, as JSON. Whole numbers stay exact.
func (c Config) settings() (json.RawMessage, error) {
	b, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	m := map[string]any{}
	if err := yaml.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return json.Marshal(m)
}

// fromSettings is the way back. Keys that this version doesn't know are an error.
func fromSettings(saved json.RawMessage) (Config, error) {
	c := Default()
	d := yaml.NewDecoder(bytes.NewReader(saved)) // JSON is YAML
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("reading the saved configuration: %w", err)
	}
	return c, nil
}

// byKey takes settings apart.
func byKey(settings json.RawMessage) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	if err := json.Unmarshal(settings, &m); err != nil {
		return nil, fmt.Errorf("the saved configuration: %w", err)
	}
	return m, nil
}

// identity are the keys that make two runs the same network on the same features and texts: a checkpoint is
// only good for a run that agrees on all of them.
var identity = []string{
	"d_model", "encoder_layers", "decoder_layers", "heads", "conv_kernel", "subsampling", "subsample_channels",
	"sample_rate", "num_mels", "normalize", "keep_joiners", "fold_digits",
}

// sameRun refuses a checkpoint of another architecture, feature setting or text policy, naming each key with
// both values; what else differs comes back as a list.
func sameRun(settings json.RawMessage, now Config) (changed []string, err error) {
	saved, err := byKey(settings)
	if err != nil {
		return nil, err
	}
	settings, err = now.settings()
	if err != nil {
		return nil, err
	}
	current, err := byKey(settings)
	if err != nil {
		return nil, err
	}
	a, b := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, k := range identity {
		a[k], b[k] = saved[k], current[k]
		delete(saved, k)
		delete(current, k)
	}
	if err := checkpoint.Compare(a, b); err != nil {
		return nil, fmt.Errorf("the checkpoint belongs to another network or other data settings: %w; "+
			"give the saved values", err)
	}
	for _, k := range []string{"resume", "init_from", "log_dir", "checkpoint_dir", "log_every", "num_workers", "profile_steps", "max_updates", "keep_last"} {
		delete(saved, k)
		delete(current, k)
	}
	var diff *checkpoint.SettingsError
	if err := checkpoint.Compare(saved, current); errors.As(err, &diff) {
		for _, d := range diff.Differences {
			changed = append(changed, fmt.Sprintf("%s: %s / %s", d.Key, d.Saved, d.Current))
		}
	}
	return changed, nil
}

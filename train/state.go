package train

import (
	"encoding/json"

	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// state is the content of trainer.json: all that a resumed run needs beside the weights and moments.
type state struct {
	Format     int              `json:"format"`
	Config     json.RawMessage  `json:"config"` // by key, as in a YAML file
	Vocabulary text.Stored      `json:"vocabulary"`
	Stats      *feature.Stats   `json:"feature_stats,omitempty"` // of global normalization
	Phrases    *cut.Phrases     `json:"phrases,omitempty"`       // what the utterances of the training set are like
	Source     string           `json:"source,omitempty"`        // the model whose weights the run began with
	Parameters int              `json:"parameters"`
	Progress   progress         `json:"progress"`
	LossScale  update.LossScale `json:"loss_scale"`
	Warmup     warmup           `json:"warmup,omitzero"`
	Schedule   update.Schedule  `json:"schedule,omitzero"` // of the learning rate
	Lessons    lessons          `json:"memory,omitzero"`
	Since      sums             `json:"since_record,omitzero"`
	Epoch      epochLosses      `json:"epoch_losses,omitzero"`
	Trend      trend            `json:"loss_trend,omitzero"`
	Due        []int            `json:"due"`                  // updates after which a save was due, the last ones
	Averaged   []int            `json:"averaged,omitempty"`   // updates whose weights these are the mean of; there is no optimizer then
	AverageOf  string           `json:"average_of,omitempty"` // SHA-256 of the model that the run ended with, beside Averaged
	judgment
	// Before is the judgment before a validation that was made only because the run had ended. A run that goes on from
	// here, with more epochs say, takes it up again: so it is the same as a run that was never ended here. nil where there
	// was no such validation.
	Before *judgment `json:"before,omitempty"`
}

// judgment is what validations have said.
type judgment struct {
	Score    *recognize.Evaluation `json:"score,omitempty"` // the last validation
	Best     *recognize.Evaluation `json:"best,omitempty"`
	BestStep int                   `json:"best_step,omitempty"`
	Judged   int                   `json:"judged"` // update of the last validation; 0: none
	Stale    int                   `json:"stale"`  // validations since the last one that counted for early_stop
	// Reference is that one, where early_stop_delta is set.
	Reference *recognize.Evaluation `json:"reference,omitempty"`
	Blanks    blanks                `json:"odd_blanks,omitempty"` // what was said last of a validation's blanks
}

// forgetBest begins the search for the best anew.
func (j *judgment) forgetBest() { j.Best, j.BestStep, j.Stale, j.Reference = nil, 0, 0, nil }

// stateFormat is the version of state. It changes when an older program would misread it.
const stateFormat = 1

// progress is a run's place: what has been done and where in the data it stands.
type progress struct {
	Updates    int     `json:"updates"`               // optimizer steps
	Epoch      int     `json:"epoch"`                 // from 0: the one being trained on
	Window     int     `json:"window"`                // windows of it that are done
	WindowSize int     `json:"window_size"`           // utterances in a window
	SetSize    int     `json:"set_size,omitempty"`    // utterances of the training set
	SetSeconds float64 `json:"set_seconds,omitempty"` // of their sound
	SetHash    string  `json:"set_hash,omitempty"`    // of their ids and lengths: what their order depends on
	TextHash   string  `json:"text_hash,omitempty"`   // of their texts; "" in older checkpoints
	NoiseHash  string  `json:"noise_hash,omitempty"`  // of the recordings that noise is taken from; "" without
	Utterances int64   `json:"utterances"`            // in all
	Skipped    int     `json:"skipped"`               // windows without an update
	InARow     int     `json:"in_a_row"`              // of them, the last ones without a good update between
	Infeasible int64   `json:"infeasible"`
	Failed     int64   `json:"failed"`              // files that could not be read
	TooLarge   int64   `json:"too_large,omitempty"` // utterances left out for lack of memory
	Workers    int     `json:"workers"`
	Kernels    string  `json:"kernels,omitempty"` // what computed it
	Seconds    float64 `json:"seconds"`           // of training, over all sessions
}

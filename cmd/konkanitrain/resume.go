package main

import (
	"encoding/json"
	"fmt"

	"konkanitrain/checkpoint"
	"konkanitrain/train"
)

// resume fills config anew, with the settings that the checkpoint was saved with under those of the file and the
// flags: --resume auto alone goes on with the run as it was.
func (o *trainOptions) resume(config *train.Config) error {
	dir := config.Run.CheckpointDir
	from, err := resumed(config.Run)
	if err != nil || from == nil {
		return err
	}
	var state struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(from.RawState(), &state); err != nil {
		return fmt.Errorf("resume: the settings in %s: %w", from.Path, err)
	}
	auto := config.Run.Resume == "auto"
	*config = train.Default()
	if err := o.set.YAML(from.Path, state.Config); err != nil { // JSON is YAML
		return fmt.Errorf("resume: %w", err)
	}
	// These were of the earlier session only.
	config.Run.Resume, config.Run.InitFrom, config.Run.ProfileSteps = "", "", 0
	if err := o.given(); err != nil {
		return err
	}
	if auto {
		config.Run.CheckpointDir = dir // where the checkpoint was found, whatever it was called then
	}
	return nil
}

// resumed is the checkpoint that a run goes on from; nil where there is none yet.
func resumed(r train.RunConfig) (*checkpoint.Checkpoint, error) {
	if r.Resume != "auto" {
		c, err := checkpoint.Open(r.Resume)
		if err != nil {
			return nil, fmt.Errorf("resume: %w", err)
		}
		return c, nil
	}
	c, _, err := checkpoint.Latest(r.CheckpointDir) // train.Run names the damaged ones
	return c, err
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/settings"
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
	file := filepath.Join(from.Path, checkpoint.StateFile)
	if err := o.set.YAML(file, inPlace(file, state.Config)); err != nil { // JSON is YAML
		return fmt.Errorf("resume: %w", err)
	}
	o.set.Reset(settings.Session) // these were of the earlier session only
	if err := o.given(); err != nil {
		return err
	}
	if auto {
		config.Run.CheckpointDir = dir // where the checkpoint was found, whatever it was called then
	}
	return nil
}

// inPlace is part with empty lines before it, so that its lines have the numbers they have in the file.
func inPlace(file string, part []byte) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		return part
	}
	before, _, _ := bytes.Cut(text, part)
	return append(bytes.Repeat([]byte("\n"), bytes.Count(before, []byte("\n"))), part...)
}

// manyCheckpoints is the problem with a folder of checkpoints where one checkpoint is wanted; nil if path is none.
func manyCheckpoints(key, path string) error {
	entries, _ := checkpoint.List(path)
	if len(entries) == 0 {
		return nil
	}
	return settings.Problemf(key, "%s: %s is a folder of checkpoints: name one of them, such as %s", key, path, entries[len(entries)-1].Path)
}

// resumed is the checkpoint that a run goes on from; nil where there is none yet.
func resumed(r train.RunConfig) (*checkpoint.Checkpoint, error) {
	if r.Resume != "auto" {
		c, err := checkpoint.Open(r.Resume)
		if err == nil {
			return c, nil
		}
		if many := manyCheckpoints("resume", r.Resume); many != nil {
			return nil, fmt.Errorf("%w, or go on from the newest with --checkpoint_dir %s --resume auto", many, r.Resume)
		}
		return nil, settings.Problemf("resume", "resume: %w", err)
	}
	c, damaged, err := checkpoint.Latest(r.CheckpointDir) // train.Run names the damaged ones, if one is whole
	if err == nil && c == nil && len(damaged) > 0 {
		err = fmt.Errorf("resume auto: none of the checkpoints in %s is whole: restore one, or start anew in another checkpoint_dir; the newest: %w", r.CheckpointDir, damaged[0].Err)
	}
	return c, settings.About("resume", err)
}

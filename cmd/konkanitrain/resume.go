package main

import (
	"bytes"
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
	origin, err := train.FindOrigin(config.Run)
	if err != nil {
		return settings.About("resume", err)
	}
	o.origin = origin
	saved, err := origin.Config()
	if err != nil || saved == nil {
		return err
	}
	auto := config.Run.Resume == "auto"
	*config = train.Default()
	file := filepath.Join(origin.Checkpoint.Path, checkpoint.StateFile)
	if err := o.set.YAML(file, inPlace(file, saved)); err != nil { // JSON is YAML
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

// notPyTorch is the problem with a file of PyTorch's where a model is wanted; nil if path is none.
func notPyTorch(key, path string) error {
	if !checkpoint.PyTorch(path) {
		return nil
	}
	return settings.Problemf(key, "%s: %s: %w", key, path, checkpoint.ErrPyTorch)
}

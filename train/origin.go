package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/words"
)

// Origin is what a run goes on from: a checkpoint whose every byte was read and found whole, once, to be handed on.
type Origin struct {
	Checkpoint *checkpoint.Checkpoint // nil: a new run
	Damaged    []checkpoint.Damaged   // what was passed over for it
}

// FindOrigin opens what the settings resume and checkpoint_dir name. With resume auto, a folder without any checkpoint
// is a new run; one with none that is whole is an error.
func FindOrigin(r RunConfig) (*Origin, error) {
	switch r.Resume {
	case "":
		return &Origin{}, nil
	case "auto":
		c, damaged, err := checkpoint.Latest(filepath.Clean(r.CheckpointDir)) // one reading of link/.. everywhere
		if err != nil {
			return nil, fmt.Errorf("resume auto: %w; restore one, or start anew in another checkpoint_dir", err)
		}
		return &Origin{c, damaged}, nil
	}
	c, err := checkpoint.Open(filepath.Clean(r.Resume))
	if err != nil {
		if errors.Is(err, checkpoint.ErrPyTorch) {
			return nil, fmt.Errorf("resume: %w", err)
		}
		if stat, _ := os.Stat(r.Resume); stat != nil && !stat.IsDir() {
			return nil, fmt.Errorf("resume: %s is a file, not a checkpoint's folder: there is no optimizer in it to go on with; "+
				"--init_from %s starts a new run with its weights, if it is a model's", r.Resume, words.Shell(r.Resume))
		}
		if several, _ := checkpoint.List(r.Resume); len(several) > 0 {
			return nil, fmt.Errorf("resume: %s is a folder of checkpoints: name one of them, such as %s, or go on from the newest whole one with --checkpoint_dir %s --resume auto",
				r.Resume, several[len(several)-1].Path, words.Shell(r.Resume))
		}
		if _, missing := os.Stat(r.Resume); errors.Is(missing, fs.ErrNotExist) {
			return nil, fmt.Errorf("resume: there is no %s; name the folder of a checkpoint, or say auto for the newest whole one in checkpoint_dir", r.Resume)
		}
		return nil, fmt.Errorf("resume: %w", err)
	}
	return &Origin{Checkpoint: c}, nil
}

// Config is the configuration that the checkpoint was saved with, as JSON by key; nil for a new run.
func (o *Origin) Config() (json.RawMessage, error) {
	if o.Checkpoint == nil {
		return nil, nil
	}
	var state struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(o.Checkpoint.RawState(), &state); err != nil {
		return nil, fmt.Errorf("resume: the settings in %s: %w", o.Checkpoint.Path, err)
	}
	return state.Config, nil
}

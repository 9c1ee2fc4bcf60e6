package recognize

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"konkanitrain/checkpoint"
)

// Stored is a trained model on disk, described and not loaded into any memory.
type Stored struct {
	Path        string // where it was found
	Description *Description
	State       json.RawMessage // of the checkpoint that it belongs to, from trainer.json; nil of a lone file

	found *found
}

// Open finds the model that [Load] would load and reads what it says of itself. Warnings go to log.
func Open(path string, log io.Writer) (*Stored, error) {
	finder := &finder{log: log, said: map[string]bool{}}
	for look := 1; ; look++ {
		f, err := finder.find(path)
		if err == nil {
			return &Stored{Path: f.path, Description: f.description, State: f.state, found: f}, nil
		}
		if look == looks || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// Read hands the weights to dst, straight from the file: dst names all of the network's parameters, with their shapes.
func (s *Stored) Read(dst []checkpoint.Tensor) error {
	if err := s.found.checkSize(); err != nil {
		return err
	}
	return s.found.load(dst)
}

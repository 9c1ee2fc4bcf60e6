package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"konkanitrain/internal/safetensors"
)

// Checkpoint is a checkpoint whose files were whole when it was opened. It holds no open files and no tensors: there
// is nothing to close, and it can be handed around, so that every byte is read and hashed once, by [Open].
type Checkpoint struct {
	Path        string // the folder
	Step        int
	ModelSHA256 string // of the model's file, 64 lower-case hex digits

	state json.RawMessage
}

// Open checks a checkpoint's folder: trainer.json and its checksum, the sizes and checksums of the other files. It
// reads every byte once and keeps only the state in trainer.json.
func Open(path string) (*Checkpoint, error) {
	m, err := inspect(path)
	if err != nil {
		return nil, withHint(path, err)
	}
	for _, name := range []string{ModelFile, OptimizerFile} {
		if err := verify(filepath.Join(path, name), m.Files[name]); err != nil {
			return nil, err
		}
	}
	return &Checkpoint{Path: path, Step: m.Step, ModelSHA256: m.Files[ModelFile].SHA256, state: m.State}, nil
}

// withHint is the error of opening path, or nil. Where path is no checkpoint, but a folder with some in it, the error
// says which one to name instead; of a file of PyTorch's it says that.
func withHint(path string, err error) error {
	if err != nil && PyTorch(path) {
		return fmt.Errorf("%s: %w", path, ErrPyTorch)
	}
	entries, _ := List(path)
	if len(entries) == 0 || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s is a folder of checkpoints: name one of them, such as %s", path, entries[len(entries)-1].Path)
}

// State reads the state that was saved into dst, a pointer. For a struct, a key that it doesn't have is an error: the
// state was written by another version of the program.
func (c *Checkpoint) State(dst any) error {
	dec := json.NewDecoder(bytes.NewReader(c.state))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst); err != nil {
		return fmt.Errorf("%s: state: %w", filepath.Join(c.Path, StateFile), err)
	}
	return nil
}

// RawState is the state's JSON text, as it stands in trainer.json.
func (c *Checkpoint) RawState() json.RawMessage { return slices.Clone(c.state) }

// LoadModel hands the weights to dst, straight from the file. dst has to name exactly the tensors of the file, with
// their shapes; otherwise a *TensorsError lists all that disagrees, and no Load has been called. Another error, of
// reading or of a Load, can come when some tensors are loaded and others not.
func (c *Checkpoint) LoadModel(dst []Tensor) error {
	return load(filepath.Join(c.Path, ModelFile), dst, []safetensors.DType{safetensors.F32}, false)
}

// LoadOptimizer hands the optimizer's moments to dst, with the rules of LoadModel.
func (c *Checkpoint) LoadOptimizer(dst []Tensor) error {
	return load(filepath.Join(c.Path, OptimizerFile), dst, []safetensors.DType{safetensors.F32}, false)
}

// Damaged is a checkpoint that was passed over, and why.
type Damaged struct {
	Path string
	Err  error
}

// String is the path and the reason, for a message.
func (d Damaged) String() string {
	return fmt.Sprintf("%s: %v", d.Path, d.Err)
}

// Latest opens the newest whole checkpoint in dir and names the damaged ones that are newer. It returns nil and no
// error where there is no checkpoint at all. Where there are some and none is whole, that is an error, and damaged
// names them all: a run that silently started from scratch would hide the damage from its user.
func Latest(dir string) (c *Checkpoint, damaged []Damaged, err error) {
	list, err := List(dir) // none where it can't be listed
	for _, e := range slices.Backward(list) {
		c, err := Open(e.Path)
		if err == nil {
			return c, damaged, nil
		}
		damaged = append(damaged, Damaged{Path: e.Path, Err: err})
	}
	if len(damaged) > 0 {
		err = fmt.Errorf("none of the checkpoints in %s is whole; the newest: %w", dir, damaged[0].Err)
	}
	return nil, damaged, err
}

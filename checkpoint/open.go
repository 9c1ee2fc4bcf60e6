package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Checkpoint is a checkpoint whose files were whole when it was opened. It holds no open files and no tensors:
// there is nothing to close.
type Checkpoint struct {
	Path  string // the folder
	Step  int
	Model string // SHA-256 of the model's file, in hexadecimal

	state json.RawMessage
}

// maxState is the longest trainer.json that is read, in bytes.
const maxState = 256 << 20

// Open checks a checkpoint's folder: trainer.json and its checksum, the sizes and checksums of the other files.
// It reads every byte once and keeps only trainer.json.
func Open(path string) (*Checkpoint, error) {
	m, err := inspect(path)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{ModelFile, OptimizerFile} {
		if err := verify(filepath.Join(path, name), m.Files[name]); err != nil {
			return nil, err
		}
	}
	return &Checkpoint{Path: path, Step: m.Step, Model: m.Files[ModelFile].SHA256, state: m.State}, nil
}

// State reads the state that was saved into dst, a pointer. For a struct, a key that it doesn't have is an
// error: the state was written by another version of the program.
func (c *Checkpoint) State(dst any) error {
	dec := json.NewDecoder(bytes.NewReader(c.state))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst); err != nil {
		return fmt.Errorf("%s: state: %w", filepath.Join(c.Path, StateFile), err)
	}
	return nil
}

// RawState is the state's JSON text.
func (c *Checkpoint) RawState() json.RawMessage { return slices.Clone(c.state) }

// readManifest reads a checkpoint's trainer.json and compares it with its checksum.
func readManifest(path string) (*manifest, error) {
	name := filepath.Join(path, StateFile)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxState {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, maxState)
	}
	m, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// inspect reads trainer.json and compares the sizes of the other files with it: the quick part of Open.
func inspect(path string) (*manifest, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	if folder := filepath.Base(path); strings.HasPrefix(folder, namePrefix) && folder != Name(m.Step) {
		return nil, fmt.Errorf("%s is of step %d, and the folder's name says otherwise", filepath.Join(path, StateFile), m.Step)
	}
	for _, file := range []string{ModelFile, OptimizerFile} {
		stat, err := os.Stat(filepath.Join(path, file))
		if err != nil {
			return nil, err
		}
		if want := m.Files[file].Bytes; stat.Size() != want {
			return nil, fmt.Errorf("%s has %d bytes, and %s says %d", filepath.Join(path, file), stat.Size(), StateFile, want)
		}
	}
	return m, nil
}

// verify compares a file's checksum with the one that was saved.
func verify(path string, want fileInfo) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return fmt.Errorf("%s has changed since it was saved: its SHA-256 begins with %s, and %s says %s", path, got[:12], StateFile, want.SHA256[:12])
	}
	return nil
}

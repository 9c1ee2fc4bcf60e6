package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"konkanitrain/internal/safetensors"
)

// Save writes a checkpoint of step and returns its folder, dir/step-00001200. dir is made if it isn't there; a
// checkpoint of the same step is replaced, and anything else of that name refused (see [SetAside]). state is whatever
// encoding/json can write (no NaN or infinity).
//
// The tensors go from their slices to the files through a small buffer. When Save returns without an error the
// checkpoint is durable: files, folder and names are synced, and one that it replaces is removed after that. After an
// error the folder doesn't exist under its final name and the older checkpoints are as they were, except that an error
// from the last sync, of the name, comes with the path of a whole checkpoint that a power cut could still lose. A full
// disk gives a *NoSpaceError, found before the first byte where the system says how much is free.
func Save(dir string, step int, model, optimizer []Tensor, state any) (path string, err error) {
	return save(osDisk{}, dir, step, model, optimizer, state)
}

// NoSpaceError says that a checkpoint didn't fit on the disk.
type NoSpaceError struct {
	Path string // the checkpoint that was not made
	Need int64  // bytes that it takes
	Free int64  // bytes free, the unfinished checkpoint removed; -1 if the system doesn't say
	Err  error  // the system's error, or nil if the lack was found before writing
}

// Error says how much the checkpoint needs, how much is free, and what to do.
func (e *NoSpaceError) Error() string {
	free := "the disk is full"
	if e.Free >= 0 {
		free = "only " + size(e.Free) + " are free"
	}
	text := fmt.Sprintf("the checkpoint %s needs %s, and %s; it was not saved, and the older checkpoints are as they were: free some space, or keep fewer checkpoints", e.Path, size(e.Need), free)
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap is the system's error.
func (e *NoSpaceError) Unwrap() error { return e.Err }

// part is one of the two tensor files.
type part struct {
	name    string
	tensors []Tensor
}

// block is what file sizes are rounded up to for the estimate of the space a save needs.
const block = 4096

func save(d disk, dir string, step int, model, optimizer []Tensor, state any) (string, error) {
	if step < 0 {
		return "", fmt.Errorf("a checkpoint of step %d: steps begin at 0", step)
	}
	final := filepath.Join(dir, Name(step))
	raw, err := marshal(state)
	if err != nil {
		return "", fmt.Errorf("checkpoint %s: %s: %w", final, StateFile, err)
	}
	m := manifest{Format: format, Step: step, State: raw, Files: map[string]fileInfo{}}
	parts := []part{{ModelFile, model}, {OptimizerFile, optimizer}}
	need, err := m.measure(parts)
	if err != nil {
		return "", fmt.Errorf("checkpoint %s: %w", final, err)
	}
	if err := makeDir(d, dir); err != nil {
		return "", explain(d, dir, final, need, err)
	}
	if _, err := os.Lstat(final); err == nil && !own(final) {
		return "", fmt.Errorf("the checkpoint %s was not saved: something of that name is there, and it is no checkpoint: move it away", final)
	}
	if free, known := d.Free(dir); known && free < need {
		return "", &NoSpaceError{Path: final, Need: need, Free: free}
	}
	temp := tempName(dir, step)
	if err := d.Mkdir(temp); err != nil {
		return "", explain(d, dir, final, need, err)
	}
	err = m.write(d, temp, parts)
	if err == nil {
		err = d.Replace(temp, final)
	}
	if err != nil {
		removal := d.Discard(temp)
		return "", errors.Join(explain(d, dir, final, need, err), removal)
	}
	if err := d.SyncDir(dir); err != nil {
		return final, fmt.Errorf("checkpoint %s is written, but a power cut could still lose it: %w", final, err)
	}
	_ = d.Discard(temp) // what was called final before; if it can't be removed, Clean finds it
	return final, nil
}

// measure fills in the sizes of the tensor files and is the number of bytes of the whole checkpoint.
func (m *manifest) measure(parts []part) (need int64, err error) {
	for _, p := range parts {
		n, err := safetensors.Size(p.tensors, m.metadata())
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.name, err)
		}
		m.Files[p.name] = fileInfo{Bytes: n, SHA256: strings.Repeat("0", 64)}
		need += (n + block - 1) / block * block
	}
	text, err := m.encode()
	need += (int64(len(text)) + block - 1) / block * block
	return need + block, err // one more for the folder
}

// metadata goes into both tensor files. "format" tells readers of PyTorch models that the layout is theirs.
func (m *manifest) metadata() map[string]string {
	return map[string]string{"format": "pt", "step": strconv.Itoa(m.Step)}
}

// write fills the temporary folder: the tensor files, then trainer.json with their sums, all synced.
func (m *manifest) write(d disk, temp string, parts []part) error {
	for _, p := range parts {
		err := writeFile(d, filepath.Join(temp, p.name), func(f file) error {
			w, err := safetensors.Write(f, p.tensors, m.metadata())
			m.Files[p.name] = fileInfo{Bytes: w.Bytes, SHA256: w.SHA256}
			return err
		})
		if err != nil {
			return err
		}
	}
	text, err := m.encode()
	if err != nil {
		return err
	}
	err = writeFile(d, filepath.Join(temp, StateFile), func(f file) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return d.SyncDir(temp)
}

// writeFile creates a file, has it filled, and syncs it.
func writeFile(d disk, path string, fill func(file) error) error {
	f, err := d.Create(path)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// explain turns the error of a save into one that says what it means for the run.
func explain(d disk, dir, final string, need int64, err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the checkpoint %s was not saved, and the older checkpoints are as they were: %w", final, err)
	}
	e := &NoSpaceError{Path: final, Need: need, Free: -1, Err: err}
	if free, known := d.Free(dir); known {
		e.Free = free
	}
	return e
}

// size is a number of bytes for people: exact, and in the unit they think in.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%d bytes (%.1f GB)", n, float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%d bytes (%.1f MB)", n, float64(n)/1e6)
	}
	return fmt.Sprintf("%d bytes", n)
}

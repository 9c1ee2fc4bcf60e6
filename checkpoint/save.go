package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"konkanitrain/internal/safetensors"
)

// Content is what a checkpoint is made of.
type Content struct {
	Model       []Tensor          // the weights, or their averages
	Description map[string]string // of the model: goes into the metadata of its file, which with it can be used alone
	Optimizer   []Tensor          // the moments, and all else that only training needs
	State       any               // whatever encoding/json can write (no NaN or infinity); goes into trainer.json
}

// Save writes a checkpoint of step and returns its folder, dir/step-00001200. dir is made if it isn't there; a
// checkpoint of the same step is replaced, and anything else of that name refused (see [SetAside]).
//
// Each tensor's Save is called once and writes straight to the file. When Save returns without an error the checkpoint
// is durable: files, folder and names are synced, and one that it replaces is removed after that. After an error the
// folder doesn't exist under its final name and the older checkpoints are as they were, except that an error from the
// last sync, of the name, comes with the path of a whole checkpoint that a power cut could still lose. A full disk
// gives a *NoSpaceError, found before the first byte where the system says how much is free.
func Save(dir string, step int, c Content) (path string, err error) {
	return save(osDisk{}, dir, step, c)
}

// part is one of the two tensor files.
type part struct {
	name     string
	tensors  []Tensor
	metadata map[string]string
}

// block is what file sizes are rounded up to for the estimate of the space a save needs.
const block = 4096

func save(d disk, dir string, step int, c Content) (string, error) {
	final := filepath.Join(dir, Name(step))
	m, parts, need, err := prepare(step, c)
	if err != nil {
		return "", fmt.Errorf("checkpoint %s: %w", final, err)
	}
	if err := makeDir(d, dir); err != nil {
		return "", explain(d, dir, final, need, err)
	}
	if _, err := os.Lstat(final); err == nil && !own(final) {
		return "", fmt.Errorf("the checkpoint %s was not saved: something of that name is there, and it is no checkpoint: "+
			"move it away", final)
	}
	if free := d.Free(dir); free.bytes >= 0 && free.bytes < need {
		return "", &NoSpaceError{Path: final, Need: need, Free: free.bytes, FreeFiles: free.files}
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
		_, removal := discard(d, temp) // first, so that what is free is known without it
		return "", errors.Join(explain(d, dir, final, need, err), removal)
	}
	if err := d.SyncDir(dir); err != nil {
		return final, fmt.Errorf("checkpoint %s is written, but a power cut could still lose it: %w", final, err)
	}
	_, _ = discard(d, temp) // what was called final before; if it can't be removed, Clean finds it
	return final, nil
}

// prepare checks what is to be saved, fills in the sizes of the tensor files, and says how many bytes the whole
// checkpoint needs.
func prepare(step int, c Content) (m *manifest, parts []part, need int64, err error) {
	if step < 0 {
		return nil, nil, 0, fmt.Errorf("step %d: steps begin at 0", step)
	}
	state, err := marshal(c.State)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("%s: %w", StateFile, err)
	}
	// "format" tells readers of PyTorch models that the layout is theirs.
	common := map[string]string{"format": "pt", "step": strconv.Itoa(step)}
	described := maps.Clone(common)
	for key, text := range c.Description {
		if _, taken := common[key]; taken {
			return nil, nil, 0, fmt.Errorf("%s: a description can't have the key %q, which every file has", ModelFile, key)
		}
		described[key] = text
	}
	m = &manifest{Format: format, Step: step, State: state, Files: map[string]fileInfo{}}
	parts = []part{{ModelFile, c.Model, described}, {OptimizerFile, c.Optimizer, common}}
	for _, p := range parts {
		n, err := safetensors.Size(p.tensors, p.metadata)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%s: %w", p.name, err)
		}
		m.Files[p.name] = fileInfo{Bytes: n, SHA256: strings.Repeat("0", 2*sha256.Size)}
		need += blocks(n)
	}
	text := int64(len(m.encode()))
	if text > maxState {
		return nil, nil, 0, fmt.Errorf("%s takes %d bytes, and no more than %d are read", StateFile, text, maxState)
	}
	need += blocks(text)
	return m, parts, need + block, nil // one more for the folder
}

// blocks is n rounded up to whole blocks.
func blocks(n int64) int64 { return (n + block - 1) / block * block }

// write fills the temporary folder: the tensor files, then trainer.json with their sums, all synced.
func (m *manifest) write(d disk, temp string, parts []part) error {
	for _, p := range parts {
		err := writeFile(d, filepath.Join(temp, p.name), func(f file) error {
			w, err := safetensors.Write(f, p.tensors, p.metadata)
			m.Files[p.name] = fileInfo{Bytes: w.Bytes, SHA256: w.SHA256}
			return err
		})
		if err != nil {
			return err
		}
	}
	err := writeFile(d, filepath.Join(temp, StateFile), func(f file) error {
		_, err := f.Write(m.encode())
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

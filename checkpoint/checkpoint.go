// Package checkpoint keeps a training run on disk so that a crash, a kill or a full disk, at whatever moment, loses
// no finished checkpoint: [Save], then [Latest] or [Open], and [Prune] for the old ones. [OpenModel] takes a model's
// file alone.
//
// The invariant: a folder step-00001200/ is whole from the instant it has that name. Its files are written and synced
// in a temporary folder beside it, which then takes the name in one step; older checkpoints are not touched by a
// save. trainer.json holds the sizes and checksums of the other files, and its last line is its own checksum, so a
// file that was cut or changed later is found, named, and passed over for the checkpoint before it.
//
// The package knows names, shapes and bytes; what the state in trainer.json means is the caller's business, and so is
// where the tensors lie: they are read and written as streams. One run owns a folder of checkpoints (see [Lock]): two
// that save into one folder would clean each other's work up.
package checkpoint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/internal/safetensors"
)

// The files of a checkpoint's folder.
const (
	ModelFile     = "model.safetensors"     // weights and what describes them, readable by any safetensors reader
	OptimizerFile = "optimizer.safetensors" // moments, and the weights themselves where the model is their averages
	StateFile     = "trainer.json"          // step, sizes and checksums of the other two, and the caller's state
)

// files are the files of a checkpoint's folder, and all that is ever removed from one.
var files = []string{StateFile, ModelFile, OptimizerFile}

const (
	namePrefix = "step-"
	tempPrefix = ".tmp-" + namePrefix // not matched by namePrefix, and hidden from `ls`
)

// Tensor is a named float32 tensor of a network in memory that need not be the host's. Its Save writes the values when
// a checkpoint is saved, its Load takes them in when one is loaded.
type Tensor = safetensors.Tensor

// Name is the name of the folder of a step, step-00001200.
func Name(step int) string { return fmt.Sprintf("%s%08d", namePrefix, step) }

// tempName is a new name of a temporary folder in dir.
func tempName(dir string, step int) string {
	return filepath.Join(dir, fmt.Sprintf("%s%08d-%s", tempPrefix, step, random()))
}

// random is an ending that no other name has.
func random() string { return strings.ToLower(rand.Text()[:8]) }

// Entry is a folder that has the name of a checkpoint. Nothing about it has been checked.
type Entry struct {
	Path string
	Step int
}

// List finds the checkpoints in dir, oldest step first: folders with a checkpoint's name and at least one of its
// files. A dir that isn't there has none.
func List(dir string) ([]Entry, error) {
	var list []Entry
	err := folders(dir, func(name string) {
		step, err := strconv.Atoi(strings.TrimPrefix(name, namePrefix))
		held := func(file string) bool {
			_, err := os.Lstat(filepath.Join(dir, name, file))
			return err == nil
		}
		if err == nil && step >= 0 && name == Name(step) && slices.ContainsFunc(files, held) {
			list = append(list, Entry{Path: filepath.Join(dir, name), Step: step})
		}
	})
	slices.SortFunc(list, func(a, b Entry) int { return a.Step - b.Step })
	return list, err
}

// Leftovers lists the temporary folders in dir: what saves left behind that were killed on their way.
func Leftovers(dir string) ([]string, error) {
	var list []string
	err := folders(dir, func(name string) {
		if strings.HasPrefix(name, tempPrefix) {
			list = append(list, filepath.Join(dir, name))
		}
	})
	return list, err
}

// folders calls found with the name of each folder in dir, sorted by name.
func folders(dir string, found func(name string)) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for checkpoints: %w", err)
	}
	for _, e := range entries {
		if stat, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && stat.IsDir() {
			found(e.Name())
		}
	}
	return nil
}

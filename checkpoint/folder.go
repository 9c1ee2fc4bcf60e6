package checkpoint

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Create makes a file of a folder that is being written, with the content that write gives it.
type Create = func(name string, write func(io.Writer) error) error

// WriteFolder gives path, where there is nothing or a folder, new content: the files that fill makes, each by a call of
// create. It has them in one step and durably, or, after an error, not at all; but an error of the last sync, of the
// name, comes with the new content in place. old is the folder that had the name before, for the caller to remove, or
// "". Until the end the files are in a hidden folder beside it, whose name begins with PartialFolder(path); that of a
// process that was killed stays.
func WriteFolder(path string, fill func(create Create) error) (old string, err error) {
	return writeFolder(osDisk{}, path, fill)
}

// PartialFolder is how the names of folders begin that WriteFolder writes before they get the name path.
func PartialFolder(path string) string {
	path = filepath.Clean(path)
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+PartialSuffix+"-")
}

func writeFolder(d disk, path string, fill func(create Create) error) (old string, err error) {
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	if err := makeDir(d, parent); err != nil {
		return "", err
	}
	temp := PartialFolder(path) + random()
	if err := d.Mkdir(temp); err != nil {
		return "", err
	}
	var made []string
	err = fill(func(name string, write func(io.Writer) error) error {
		name = filepath.Join(temp, name)
		made = append(made, name)
		return writeFile(d, name, func(f file) error {
			w := bufio.NewWriterSize(f, 64<<10)
			if err := write(w); err != nil { // which may be w's own
				return err
			}
			return w.Flush()
		})
	})
	if err == nil {
		err = d.SyncDir(temp)
	}
	if err == nil {
		_, lacks := os.Lstat(path)
		if err = d.Replace(temp, path); err == nil && lacks == nil {
			old = temp
		}
	}
	if err != nil {
		for _, name := range made {
			err = errors.Join(err, removeIfThere(d, name))
		}
		return "", errors.Join(err, removeIfThere(d, temp))
	}
	return old, d.SyncDir(parent)
}

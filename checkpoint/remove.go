package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Clean removes the leftovers in dir and names them. Only the run that owns dir may call it, and not during a save: to
// anyone else a save in progress looks like a leftover.
func Clean(dir string) (removed []string, err error) { return clean(osDisk{}, dir) }

func clean(d disk, dir string) (removed []string, err error) {
	list, err := Leftovers(dir)
	if err != nil {
		return nil, err
	}
	for _, path := range list {
		kept, failed := discard(d, path)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("leftover of a save that was interrupted: %w", failed))
			continue
		}
		if kept != "" {
			path += " (" + otherFiles(path, kept) + ")"
		}
		removed = append(removed, path)
	}
	return removed, err
}

// own says whether a folder is a checkpoint of ours: its trainer.json is as Save has written it. The other files may be
// damaged.
func own(path string) bool {
	_, err := readManifest(path)
	return err == nil
}

// SetAside makes room for a checkpoint of step: what has its name in dir and is none, a file or a folder of somebody's
// own or a checkpoint whose trainer.json is damaged, gets another name, which is returned. It is "" where there was
// nothing to do.
func SetAside(dir string, step int) (moved string, err error) { return setAside(osDisk{}, dir, step) }

func setAside(d disk, dir string, step int) (moved string, err error) {
	path := filepath.Join(dir, Name(step))
	if _, err := os.Lstat(path); err != nil || own(path) {
		return "", nil
	}
	moved = aside(path)
	if err := d.Rename(path, moved); err != nil {
		return "", err
	}
	return moved, nil
}

// aside is a new name for what has the path of a checkpoint, temporary or not, and isn't removed.
func aside(path string) string {
	name := namePrefix + strings.TrimPrefix(strings.TrimPrefix(filepath.Base(path), tempPrefix), namePrefix)
	return filepath.Join(filepath.Dir(path), name+".aside-"+random())
}

// discard removes a folder with a temporary name and the files in it that are a checkpoint's. A folder in which there
// is more is kept under another name, which is returned.
func discard(d disk, temp string) (kept string, err error) {
	if stat, err := os.Lstat(temp); err != nil || !stat.IsDir() { // gone, or a link: what it leads to stays
		return "", removeIfThere(d, temp)
	}
	for _, name := range files {
		if err := removeIfThere(d, filepath.Join(temp, name)); err != nil {
			return "", err
		}
	}
	if err := d.Remove(temp); !errors.Is(err, fs.ErrExist) { // which says that it isn't empty
		return "", err
	}
	kept = aside(temp)
	if err := d.Rename(temp, kept); err != nil {
		return "", err
	}
	return kept, nil
}

// removeIfThere removes a file; that there is none is no error.
func removeIfThere(d disk, path string) error {
	err := d.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// otherFiles says that a folder held more than a checkpoint.
func otherFiles(path, kept string) string {
	return fmt.Sprintf("%s held files that are no checkpoint's: they are in %s now", path, kept)
}

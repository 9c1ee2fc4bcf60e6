package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Prune removes old checkpoints from dir and names them. It keeps the newest keepLast (at least 1) and
// those in keep, each a path or the name of a folder in dir, or "" for none. A newer one that is plainly damaged
// (trainer.json or the sizes are wrong) is kept for its owner to look at and doesn't count. A folder loses its
// name before its files, so that a kill leaves no half checkpoint.
func Prune(dir string, keepLast int, keep ...string) (removed []string, err error) {
	if keepLast < 1 {
		return nil, fmt.Errorf("keeping the last %d checkpoints: at least 1 has to stay", keepLast)
	}
	list, err := List(dir)
	if err != nil {
		return nil, err
	}
	kept := 0
	for _, e := range slices.Backward(list) {
		if kept < keepLast {
			if _, err := inspect(e.Path); err == nil {
				kept++
			}
			continue
		}
		if !own(e.Path) {
			continue // no checkpoint, so it isn't ours to remove
		}
		if slices.ContainsFunc(keep, func(k string) bool { return k != "" && filepath.Base(k) == filepath.Base(e.Path) }) {
			continue
		}
		gone, failed := remove(dir, e)
		err = errors.Join(err, failed)
		if gone {
			removed = append(removed, e.Path)
		}
	}
	slices.Reverse(removed)
	return removed, err
}

// RemoveOthers removes all checkpoints from dir but the one at path.
func RemoveOthers(dir, path string) error {
	list, err := List(dir)
	for _, e := range list {
		if filepath.Base(e.Path) != filepath.Base(path) && own(e.Path) {
			_, failed := remove(dir, e)
			err = errors.Join(err, failed)
		}
	}
	return err
}

// remove takes a checkpoint's name away and then its files; gone says that the first has happened.
func remove(dir string, e Entry) (gone bool, err error) {
	temp := tempName(dir, e.Step)
	if err := os.Rename(e.Path, temp); err != nil {
		return false, err
	}
	kept, err := discard(temp)
	if kept != "" {
		err = errors.New(otherFiles(e.Path, kept))
	}
	return true, err
}

package checkpoint

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Keep says which checkpoints stay when old ones are removed.
type Keep struct {
	Last    int       // the newest whole ones, at least 1
	Also    []string  // others by path or by the name of a folder in dir, "" for none; the one just saved belongs here
	Suspect []Damaged // what Latest has passed over: one of them that isn't whole stays for its owner to look at
}

// Prune removes old checkpoints from dir and names them. What is damaged doesn't count among the last: one whose
// trainer.json or sizes are wrong and, of those in keep.Suspect, whose files are read again, one whose checksums are. A
// folder loses its name before its files, so that a kill leaves no half checkpoint.
func Prune(dir string, keep Keep) (removed []string, err error) { return prune(osDisk{}, dir, keep) }

func prune(d disk, dir string, keep Keep) (removed []string, err error) {
	if keep.Last < 1 {
		return nil, fmt.Errorf("keeping the last %d checkpoints: at least 1 has to stay", keep.Last)
	}
	list, err := List(dir) // none where it can't be listed
	kept := 0
	for _, e := range slices.Backward(list) {
		switch {
		case keep.suspects(e) && !whole(e.Path):
		case kept < keep.Last:
			if _, err := inspect(e.Path); err == nil {
				kept++
			}
		case keep.names(e) || !own(e.Path): // what is no checkpoint isn't ours to remove
		default:
			gone, failed := remove(d, dir, e)
			err = errors.Join(err, failed)
			if gone {
				removed = append(removed, e.Path)
			}
		}
	}
	slices.Reverse(removed)
	return removed, err
}

func (k Keep) names(e Entry) bool {
	return slices.ContainsFunc(k.Also, func(also string) bool { return also != "" && sameName(also, e.Path) })
}

func (k Keep) suspects(e Entry) bool {
	return slices.ContainsFunc(k.Suspect, func(d Damaged) bool { return sameName(d.Path, e.Path) })
}

// sameName compares the names of two folders, wherever they are.
func sameName(a, b string) bool { return filepath.Base(a) == filepath.Base(b) }

// whole reads all of a checkpoint.
func whole(path string) bool {
	_, err := Open(path)
	return err == nil
}

// RemoveOthers removes all checkpoints from dir but the one at path.
func RemoveOthers(dir, path string) error { return removeOthers(osDisk{}, dir, path) }

func removeOthers(d disk, dir, path string) error {
	list, err := List(dir) // none where it can't be listed
	for _, e := range list {
		if !sameName(e.Path, path) && own(e.Path) {
			_, failed := remove(d, dir, e)
			err = errors.Join(err, failed)
		}
	}
	return err
}

// remove takes a checkpoint's name away and then its files; gone says that the first has happened.
func remove(d disk, dir string, e Entry) (gone bool, err error) {
	temp := tempName(dir, e.Step)
	if err := d.Rename(e.Path, temp); err != nil {
		return false, err
	}
	kept, err := discard(d, temp)
	if kept != "" {
		err = errors.New(otherFiles(e.Path, kept))
	}
	return true, err
}

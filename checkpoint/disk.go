package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// disk is what saving and removing do to the file system. Tests put one in its place that fills up, fails or dies on
// the way.
type disk interface {
	Mkdir(path string) error
	Create(path string) (file, error)
	SyncDir(path string) error        // makes the names in a folder durable
	Replace(temp, final string) error // gives the folder temp the name final; what had it is called temp then
	Rename(from, to string) error
	Remove(path string) error       // a file or an empty folder
	Free(path string) (int64, bool) // bytes that can be written there, if that is known
}

type file interface {
	io.Writer
	Sync() error
	Close() error
}

// osDisk is the real one.
type osDisk struct{}

func (osDisk) Mkdir(path string) error          { return os.Mkdir(path, 0o777) }
func (osDisk) Create(path string) (file, error) { return os.Create(path) }
func (osDisk) SyncDir(path string) error        { return syncDir(path) }
func (osDisk) Rename(from, to string) error     { return os.Rename(from, to) }
func (osDisk) Remove(path string) error         { return os.Remove(path) }
func (osDisk) Free(path string) (int64, bool)   { return freeBytes(path) }

// Replace gives temp the name final. If final exists the two change names, in one step where the system can: no
// moment has neither.
func (osDisk) Replace(temp, final string) error {
	if _, err := os.Lstat(final); err != nil {
		return os.Rename(temp, final)
	}
	return exchange(temp, final)
}

// MakeDir makes a folder and the parents that it lacks, and syncs each folder that has a new name in it, so that a
// power cut can't take away the folder of a checkpoint that is durable itself.
func MakeDir(dir string) error { return makeDir(osDisk{}, dir) }

func makeDir(d disk, dir string) error {
	var missing []string
	for p := filepath.Clean(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: p, Err: syscall.ENOTDIR}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			return err
		}
		missing = append(missing, p)
	}
	for _, p := range slices.Backward(missing) {
		err := d.Mkdir(p)
		if info, there := os.Stat(p); err != nil && (there != nil || !info.IsDir()) { // else another process made it
			return err
		}
		// A parent that may be written but not read can't be synced.
		if err := d.SyncDir(filepath.Dir(p)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// exchangeInSteps is for systems without an exchange in one step. A kill between the renames leaves both checkpoints
// under temporary names; the older steps are still there.
func exchangeInSteps(temp, final string) error {
	aside := temp + ".old"
	if err := os.Rename(final, aside); err != nil {
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		os.Rename(aside, final)
		return err
	}
	os.Rename(aside, temp) // a leftover under either name
	return nil
}

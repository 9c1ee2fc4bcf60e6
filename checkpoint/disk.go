package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	Remove(path string) error               // a file or an empty folder
	Reserve(path string, bytes int64) error // makes a file of so many bytes, where the system can without writing them
	Free(path string) room
}

// room is what a file system still has to give; -1 is what it doesn't say.
type room struct {
	bytes int64
	files int64 // files and folders
}

// unknown is the room where the system says nothing.
var unknown = room{-1, -1}

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
func (osDisk) Free(path string) room            { return freeRoom(path) }

// Reserve makes the file, and has the system set its bytes aside.
func (osDisk) Reserve(path string, bytes int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(reserve(f, bytes), f.Close())
}

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

// oldSuffix is at the end of the name that a checkpoint has while exchangeInSteps puts another one in its place.
const oldSuffix = ".old"

// exchangeInSteps is for systems without an exchange in one step. A kill between the renamings leaves both checkpoints
// under temporary names: see [Restore].
func exchangeInSteps(temp, final string, rename func(from, to string) error) error {
	old := temp + oldSuffix
	if err := rename(final, old); err != nil {
		return err
	}
	if err := rename(temp, final); err != nil {
		return errors.Join(err, rename(old, final))
	}
	_ = rename(old, temp) // a leftover under either name
	return nil
}

// Restore gives checkpoints in dir their name back that lost it to another one of their step when the exchange of the
// two was cut short, which some systems can't make in one step. It names them. It comes before Clean, for the same
// caller.
func Restore(dir string) (restored []string, err error) { return restore(osDisk{}, dir) }

func restore(d disk, dir string) (restored []string, err error) {
	list, err := Leftovers(dir) // none where it can't be listed
	for _, path := range list {
		m, damage := readManifest(path)
		if !strings.HasSuffix(path, oldSuffix) || damage != nil {
			continue
		}
		final := filepath.Join(dir, Name(m.Step))
		if _, there := os.Lstat(final); !errors.Is(there, fs.ErrNotExist) {
			continue
		}
		failed := d.Rename(path, final)
		if failed == nil {
			restored, failed = append(restored, final), d.SyncDir(dir)
		}
		err = errors.Join(err, failed)
	}
	return restored, err
}

package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errLocked says that another process has the lock.
var errLocked = errors.New("another run is using it: wait for its end or stop it, or choose another folder")

// Folder is a folder of checkpoints that is one run's own.
type Folder struct {
	dir  string
	held *os.File // the folder itself, open: its lock, and what tells it from another one of the same path
}

// Lock makes dir, which must be there, one run's own until the result is closed or the process has ended, in whatever
// way. It leaves no file behind. It is an error if another process has dir; where the system or the file system knows
// no such locks, nobody is kept out.
func Lock(dir string) (*Folder, error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := lock(held); err != nil {
		held.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return &Folder{dir, held}, nil
}

// ErrWritten says that another process has a file's lock.
var ErrWritten = errors.New("another process is writing it: wait for its end or stop it, or name another file")

// LockFile makes an open file, which is written over hours, one process's own until it is closed or the process has
// ended. It is [ErrWritten] if another process has it; where there are no such locks, nobody is kept out.
func LockFile(f *os.File) error {
	if lock(f) != nil {
		return ErrWritten
	}
	return nil
}

// Close gives the folder up.
func (f *Folder) Close() error { return f.held.Close() }

// Hold makes sure, before a save, that the folder is still the one that was locked: somebody may have removed it while
// the run was going on. One that is gone is made and locked anew, and renewed is true then. It is an error if another
// folder has its path now, perhaps another run's: to save there would remove that run's checkpoints as old ones.
func (f *Folder) Hold() (renewed bool, err error) {
	before, err := f.held.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, f.renew()
	}
	if err != nil {
		return false, err
	}
	if !os.SameFile(before, now) {
		return false, fmt.Errorf("%s is not the folder that this run began in: that one was removed or moved away, "+
			"and this one may be another run's, so nothing is saved in it", f.dir)
	}
	return false, nil
}

// renew makes the folder again and locks it.
func (f *Folder) renew() error {
	if err := MakeDir(f.dir); err != nil {
		return err
	}
	again, err := Lock(f.dir)
	if err != nil {
		return err
	}
	f.held.Close() // of the folder that is gone: nobody needs to know
	f.held = again.held
	return nil
}

package checkpoint

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// ErrShared says that another process has a file open that one wants alone.
var ErrShared = errors.New("another run writes to it")

// Share opens a file to append to it, and to read from it; it is made if it isn't there. Until it is closed, [Alone]
// keeps off it, where the system or the file system knows such locks.
func Share(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
		if err != nil {
			return nil, err
		}
		lockShared(f)
		held, err := f.Stat()
		if err == nil {
			if now, gone := os.Stat(path); gone == nil && os.SameFile(held, now) {
				return f, nil
			}
		}
		f.Close() // it was replaced before it was locked
		if err != nil {
			return nil, err
		}
	}
}

// Alone calls do for the file at path while no process shares it; else the error is ErrShared. Where there are no
// locks, do is called.
func Alone(path string, do func() error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if lock(f) != nil {
		return ErrShared
	}
	return do()
}

// ReplaceFile gives the file at path, which need not be there, a new content, which fill writes: in one step and
// durably, or, after an error, not at all; but an error of the last sync, of the name, comes with the new content in
// place. Until then the content is in a file beside it with PartialSuffix at its end; one that a kill has left is
// replaced by the next call.
func ReplaceFile(path string, fill func(io.Writer) error) error {
	return replaceFile(osDisk{}, path, fill)
}

// PartialSuffix is at the end of the name of a file that is being written.
const PartialSuffix = ".partial"

func replaceFile(d disk, path string, fill func(io.Writer) error) error {
	temp := path + PartialSuffix
	err := writeFile(d, temp, func(f file) error {
		w := bufio.NewWriterSize(f, 64<<10)
		if err := fill(w); err != nil {
			return err // flushing would only say it again
		}
		return w.Flush()
	})
	if err == nil {
		err = d.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(d, temp))
	}
	return d.SyncDir(filepath.Dir(path))
}

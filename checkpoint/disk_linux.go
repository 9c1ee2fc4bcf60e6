package checkpoint

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// freeRoom is what an ordinary user can still write to the file system of path.
func freeRoom(path string) room {
	var stat unix.Statfs_t
	free := unknown
	if err := unix.Statfs(path, &stat); err != nil {
		return free
	}
	if stat.Blocks > 0 && stat.Bsize > 0 { // some network file systems don't say
		free.bytes = int64(min(stat.Bavail, math.MaxInt64/uint64(stat.Bsize))) * int64(stat.Bsize)
	}
	if stat.Files > 0 { // nor do those that make files without a limit
		free.files = int64(min(stat.Ffree, math.MaxInt64))
	}
	return free
}

// reserve gives a new file its size, with its blocks; where the file system can't, it stays empty.
func reserve(f *os.File, bytes int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, max(bytes, 1))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
			return nil
		}
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
	}
}

// exchange swaps the names of two folders in one step.
func exchange(temp, final string) error {
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system can't
		return exchangeInSteps(temp, final, os.Rename)
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: temp, New: final, Err: err}
	}
	return nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) { // the file system has no such thing
		return nil
	}
	return err
}

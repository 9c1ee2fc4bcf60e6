package checkpoint

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// freeBytes is what an ordinary user can still write to the file system of path.
func freeBytes(path string) (int64, bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil || stat.Blocks == 0 || stat.Bsize <= 0 {
		return 0, false // some network file systems don't say
	}
	return int64(min(stat.Bavail, math.MaxInt64/uint64(stat.Bsize))) * int64(stat.Bsize), true
}

// exchange swaps the names of two folders in one step.
func exchange(temp, final string) error {
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system can't
		return exchangeInSteps(temp, final)
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

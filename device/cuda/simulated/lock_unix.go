//go:build unix

package simulated

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until no other process holds the file, and holds it until unlock is called or the process ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err {
		case nil:
			return func() { f.Close() }, nil
		case unix.EINTR:
		default:
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
	}
}

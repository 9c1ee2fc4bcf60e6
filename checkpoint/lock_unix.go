//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package checkpoint

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks an open folder or file until it is closed.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return nil // other errors: some network file systems know no locks
}

// lockShared locks an open file together with others, until it is closed; it waits while another process has it alone.
func lockShared(f *os.File) {
	for errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH), unix.EINTR) {
	}
}

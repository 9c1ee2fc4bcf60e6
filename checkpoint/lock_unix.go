//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package checkpoint

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func lockFolder(dir string) (io.Closer, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return d, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(errLocked, d.Close())
	}
	return noLock{}, d.Close() // some network file systems can't
}

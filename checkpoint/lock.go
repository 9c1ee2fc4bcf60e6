package checkpoint

import (
	"errors"
	"fmt"
	"io"
)

// errLocked is what lockFolder returns if another process has the lock.
var errLocked = errors.New("another run is using it: wait for its end or stop it, or choose another folder")

// Lock makes dir, which must be there, one run's own until the result is closed or the process has ended, in
// whatever way. It leaves no file behind. It is an error if another process has dir; where the system or the file
// system knows no such locks, nobody is kept out.
func Lock(dir string) (io.Closer, error) {
	l, err := lockFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return l, nil
}

// noLock is the lock of a system without locks.
type noLock struct{}

// Close does nothing.
func (noLock) Close() error { return nil }

//go:build !linux

package checkpoint

import (
	"os"
	"runtime"
)

// freeBytes isn't known here: a full disk is found when a write fails.
func freeBytes(string) (int64, bool) { return 0, false }

func exchange(temp, final string) error { return exchangeInSteps(temp, final) }

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && runtime.GOOS != "windows" { // which has no such thing
		return err
	}
	return nil
}

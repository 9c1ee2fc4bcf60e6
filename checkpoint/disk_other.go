//go:build !linux

package checkpoint

import (
	"os"
	"runtime"
)

// freeRoom isn't known here: a full disk is found when a write fails.
func freeRoom(string) room { return unknown }

// reserve does nothing here.
func reserve(*os.File, int64) error { return nil }

func exchange(temp, final string) error { return exchangeInSteps(temp, final, os.Rename) }

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

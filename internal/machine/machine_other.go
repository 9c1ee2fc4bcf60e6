//go:build !linux

package machine

import (
	"fmt"
	"runtime"
)

// Read knows nothing here.
func Read() Memory { return Memory{} }

// Self knows nothing here.
func Self() (rss, peak int64) { return 0, 0 }

// ResetPeak is an error here.
func ResetPeak() error { return unknown("the peak of this process") }

// Processes is an error here.
func Processes() ([]Process, error) { return nil, unknown("the list of processes") }

// Open knows nothing here.
func Open(int) []string { return nil }

func unknown(what string) error { return fmt.Errorf("%s is not known on %s", what, runtime.GOOS) }

package machine

import (
	"fmt"
	"os"
)

// Read looks at the machine, the control groups and the limits of this process, as they are now. What can't be read
// is unknown.
func Read() Memory { return read(os.DirFS("/")) }

// Self is the memory that this process has now and the most it has had since its start or ResetPeak, in bytes; 0 where
// it isn't known.
func Self() (rss, peak int64) { return self(os.DirFS("/")) }

// ResetPeak lets the peak of Self begin anew.
func ResetPeak() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("the peak of this process is not reset: %w", err)
	}
	return nil
}

// Processes lists the processes here that this one may look at, the largest first.
func Processes() ([]Process, error) { return processes(os.DirFS("/")) }

// Open lists the files and folders that a process has open, by their paths; none if this one may not look.
func Open(pid int) []string { return open(os.DirFS("/"), pid) }

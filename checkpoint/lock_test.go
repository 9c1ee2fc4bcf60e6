package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A folder is one run's, until that run lets go of it; nothing stays behind.
func TestLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks there")
	}
	dir := t.TempDir()
	first, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Lock(dir); !errors.Is(err, errLocked) || second != nil {
		t.Errorf("a second run has the folder as well: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	third, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := Lock(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that isn't there: %v", err)
	}
}

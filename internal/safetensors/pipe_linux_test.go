package safetensors

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe has no size and no offsets, so it is refused.
func TestPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := os.OpenFile(path, os.O_RDWR, 0) // or Open would wait for somebody who writes
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if f, err := Open(path); err == nil || !errors.Is(err, syscall.ESPIPE) {
		t.Errorf("%v, %v", f, err)
	}
}

package safetensors

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
)

// Neither a file that is refused nor one that was closed stays open.
func TestNothingStaysOpen(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("too short to be one"), 0o666); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // or it would close what was forgotten
	before := count()
	for range 20 {
		if _, err := Open(bad); err == nil {
			t.Fatal("a bad file was opened")
		}
		f, err := Open("testdata/python.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := floats(f, "f32"); !errors.Is(err, os.ErrClosed) {
			t.Fatalf("read after Close: %v", err)
		}
	}
	if after := count(); after > before+2 { // another test may have opened one meanwhile
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

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

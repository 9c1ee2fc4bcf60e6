package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDiskOfLinux(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	if n, known := freeBytes(dir); !known || n <= 0 {
		t.Errorf("%d bytes free in a temporary folder (%v)", n, known)
	}
	for _, path := range []string{none, "/proc"} { // which isn't there, and which has no size
		if n, known := freeBytes(path); known || n != 0 {
			t.Errorf("%d bytes free in %s", n, path)
		}
	}
	if err := syncDir(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("sync of a folder that isn't there: %v", err)
	}
	for _, path := range []string{dir, "/proc"} { // the second can't be synced, and needs no sync
		if err := syncDir(path); err != nil {
			t.Error(err)
		}
	}
	// Two names that don't both exist are an error of the exchange itself. Where the system can't exchange, and a folder
	// and one inside it are such a case, it goes by steps.
	var link *os.LinkError
	if err := exchange(none, dir); !errors.As(err, &link) || link.Op != "exchange" || !errors.Is(err, unix.ENOENT) {
		t.Errorf("got %v", err)
	}
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := exchange(inner, dir); !errors.As(err, &link) || link.Op == "exchange" {
		t.Errorf("got %v", err)
	}
}

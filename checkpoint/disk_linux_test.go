package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDiskOfLinux(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	if free := freeRoom(dir); free.bytes <= 0 || free.files == 0 || free.files < -1 {
		t.Errorf("%+v free in a temporary folder", free)
	}
	for _, path := range []string{none, "/proc"} { // which isn't there, and which has no size
		if free := freeRoom(path); free != unknown {
			t.Errorf("%+v free in %s", free, path)
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

// Nothing that was looked at stays open.
func TestNothingStaysOpen(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	dir := t.TempDir()
	path := mustSave(t, dir, 1, 2)
	held, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	gone := filepath.Join(dir, "gone")
	if err := MakeDir(gone); err != nil {
		t.Fatal(err)
	}
	renewed, err := Lock(gone)
	if err != nil {
		t.Fatal(err)
	}
	defer renewed.Close()
	model, _ := tensors(1, 2)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // or it would close what was forgotten
	before := count()
	for range 20 {
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, lockErr := Lock(dir); !errors.Is(lockErr, errLocked) {
			t.Fatal(lockErr)
		}
		if err := errors.Join(c.LoadModel(model), second(Describe(path)), syncDir(dir)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.RemoveAll(gone), second(renewed.Hold())); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after > before+2 {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

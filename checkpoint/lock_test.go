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

// A run notices before a save that its folder was removed, and makes it again; into another one that has its place it
// saves nothing.
func TestHold(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open folder can't be removed there")
	}
	top := t.TempDir()
	dir := filepath.Join(top, "runs", "first")
	if err := MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	f, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	hold := func(wantRenewed bool, want string) {
		t.Helper()
		renewed, err := f.Hold()
		if renewed != wantRenewed || (err == nil) != (want == "") || err != nil && !contains(err.Error(), want) {
			t.Errorf("renewed %v, %v; want %v and %q", renewed, err, wantRenewed, want)
		}
	}
	hold(false, "")
	for range 2 { // the folder, and the folder above it too
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
		hold(true, "")
		hold(false, "")
		if _, err := Lock(dir); !errors.Is(err, errLocked) {
			t.Errorf("the new folder isn't locked: %v", err)
		}
	}
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	hold(false, "is not the folder that this run began in")
	other, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.renew(); !errors.Is(err, errLocked) {
		t.Errorf("taken from another run: %v", err)
	}
	hold(false, "is not the folder")
	other.Close()
	up := filepath.Dir(dir)
	if err := errors.Join(os.RemoveAll(up), os.WriteFile(up, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	hold(false, "not a directory")
	if err := errors.Join(os.Remove(up), os.Symlink(filepath.Join(top, "nowhere"), up)); err != nil {
		t.Fatal(err)
	}
	hold(true, "file exists") // the folder can't be made behind a link to nowhere
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	hold(false, "file already closed")
}

// A file is one process's while it is open.
func TestLockFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks there")
	}
	path := filepath.Join(t.TempDir(), "x")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer second.Close()
	if err := LockFile(first); err != nil {
		t.Fatal(err)
	}
	if err := LockFile(second); !errors.Is(err, ErrWritten) {
		t.Errorf("a second one: %v", err)
	}
	first.Close()
	if err := LockFile(second); err != nil {
		t.Error(err)
	}
}

package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// At every operation that fails, and at every moment of a kill, a file that is replaced has its old content or its new
// one, and the next try succeeds.
func TestReplaceFile(t *testing.T) {
	older, newer := bytes.Repeat([]byte("old\n"), 9), bytes.Repeat([]byte("newer\n"), 30_000) // two writes
	var path string
	set := func() string {
		dir := t.TempDir()
		path = filepath.Join(dir, "metrics.jsonl")
		if err := os.WriteFile(path, older, 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	replace := func(d disk) error {
		return replaceFile(d, path, func(w io.Writer) error { return second(w.Write(newer)) })
	}
	isNewer := func(when string) bool {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(text, older) && !bytes.Equal(text, newer) {
			t.Fatalf("%s: the file has %d bytes, %v", when, len(text), err)
		}
		return bytes.Equal(text, newer)
	}
	goesOn := func(dir, when string) {
		t.Helper()
		if err := replace(osDisk{}); err != nil || !isNewer(when) {
			t.Fatalf("%s: and then %v", when, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Fatalf("%s: left are %v, %v", when, left, err)
		}
	}
	failed := 0
	for at := 1; ; at++ {
		dir, when := set(), fmt.Sprintf("operation %d", at)
		d := failing(at, at, func() error { return syscall.EIO })
		err := replace(d)
		if d.count < at {
			break
		}
		failed++
		if synced := at == d.count; !errors.Is(err, syscall.EIO) || isNewer(when) && !synced { // only the sync of its name failed
			t.Fatalf("%s: %v", when, err)
		}
		goesOn(dir, when)
	}
	if failed < 6 {
		t.Errorf("%d operations", failed)
	}
	everyKill(t, false, set, func(d disk, _ string) {
		if err := replace(d); err != nil {
			t.Error(err)
		}
	}, func(dir, when string) {
		isNewer(when)
		goesOn(dir, when)
	})
	full := errors.New("what it is made from can't be read")
	if err := ReplaceFile(path, func(io.Writer) error { return full }); !errors.Is(err, full) || !isNewer("nothing to put there") {
		t.Error(err)
	}
}

// A file is shared by any number, and had alone by one while none shares it; who waits for it has the one that is there
// then.
func TestShareAndAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks there")
	}
	path := filepath.Join(t.TempDir(), "metrics.jsonl")
	nothing := func() error { return nil }
	if err := Alone(path, nothing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
	one, err := Share(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Share(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{one, other} {
		if err := Alone(path, nothing); !errors.Is(err, ErrShared) {
			t.Errorf("alone beside others: %v", err)
		}
		f.Close()
	}
	failed := errors.New("failed")
	if err := Alone(path, func() error { return failed }); err != failed {
		t.Errorf("%v", err)
	}
	waited := make(chan *os.File)
	err = Alone(path, func() error {
		go func() {
			f, err := Share(path)
			if err != nil {
				t.Error(err)
			}
			waited <- f
		}()
		return ReplaceFile(path, func(w io.Writer) error { return second(io.WriteString(w, "new\n")) })
	})
	f := <-waited
	defer f.Close()
	text, readErr := io.ReadAll(f)
	if err != nil || readErr != nil || string(text) != "new\n" {
		t.Errorf("%q, %v, %v", text, err, readErr)
	}
	if _, err := Share(filepath.Dir(path)); err == nil {
		t.Error("a folder is shared as a file")
	}
}

package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// twoFiles fills a folder with two files of a content.
func twoFiles(content string) func(Create) error {
	return func(create Create) error {
		for _, name := range []string{"a", "b"} {
			if err := create(name, func(w io.Writer) error {
				_, err := io.WriteString(w, name+content)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

// stands says which content the folder has: "" where there is none. Half of one is an error of the test.
func stands(t *testing.T, path, when string) string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	a, errA := os.ReadFile(filepath.Join(path, "a"))
	b, errB := os.ReadFile(filepath.Join(path, "b"))
	if err := errors.Join(err, errA, errB); err != nil || len(entries) != 2 || string(a[1:]) != string(b[1:]) {
		t.Fatalf("%s: the folder is half there: %v, %q, %q, %v", when, entries, a, b, err)
	}
	return string(a[1:])
}

// A folder is written as a whole: where there was none, or in place of another one, which is kept for the caller.
func TestWriteFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "above", "folder")
	for i, content := range []string{"first", "second"} {
		old, err := WriteFolder(path+"/", twoFiles(content))
		if err != nil || stands(t, path, content) != content || (old != "") != (i > 0) {
			t.Fatalf("%q, %v", old, err)
		}
		if old != "" && (stands(t, old, "the old one") != "first" || !strings.HasPrefix(old, PartialFolder(path))) {
			t.Errorf("the old one is %s", old)
		}
	}
	cause := errors.New("no more")
	_, err := WriteFolder(path, func(create Create) error { return errors.Join(twoFiles("third")(create), cause) })
	left, _ := filepath.Glob(PartialFolder(path) + "*")
	if !errors.Is(err, cause) || stands(t, path, "after an error") != "second" || len(left) != 1 { // the old one of before
		t.Errorf("%v; beside it are %v", err, left)
	}
}

// Whatever fails, and whenever a process is killed, the folder has one content as a whole, or is not there yet.
func TestWriteFolderFails(t *testing.T) {
	for _, before := range []string{"", "before"} {
		for _, killed := range []bool{false, true} {
			for when := range moments {
				if !killed && when > 0 {
					continue
				}
				at := 1
				for ; ; at++ {
					dir := t.TempDir()
					path := filepath.Join(dir, "new", "folder")
					if before != "" {
						if _, err := writeFolder(quick(), path, twoFiles(before)); err != nil {
							t.Fatal(err)
						}
					}
					text := fmt.Sprintf("operation %d, moment %d, killed %v, before %q", at, when, killed, before)
					d := failing(at, at, func() error { return syscall.EIO })
					if killed {
						d = killing(at, when, func() { panic(syscall.EIO) })
					}
					err := func() (err error) {
						defer func() {
							if r := recover(); r != nil {
								err = r.(error)
							}
						}()
						_, err = writeFolder(d, path, twoFiles("after"))
						return err
					}()
					got := stands(t, path, text)
					if d.count < at {
						if err != nil || got != "after" {
							t.Fatalf("nothing failed, and it is %q: %v", got, err)
						}
						break
					}
					if got != before && got != "after" || err == nil && got != "after" {
						t.Errorf("%s: %q, %v", text, got, err)
					}
					left, _ := filepath.Glob(PartialFolder(path) + "*")
					if !killed && len(left) > 0 && !(before != "" && got == "after") {
						t.Errorf("%s: left over is %v", text, left)
					}
				}
				if at < 10 {
					t.Errorf("only %d operations", at)
				}
			}
		}
	}
}

// One failure is said once, also while much is being written.
func TestWriteFolderSaysItOnce(t *testing.T) {
	much := make([]byte, 300<<10)
	for at := 1; ; at++ {
		d := failing(at, at, func() error { return syscall.ENOSPC })
		_, err := writeFolder(d, filepath.Join(t.TempDir(), "folder"), func(create Create) error {
			return create("much", func(w io.Writer) error {
				_, err := w.Write(much[:100<<10])
				if err == nil {
					_, err = w.Write(much)
				}
				return err
			})
		})
		if d.count < at {
			return
		}
		if err != nil && strings.Count(err.Error(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("operation %d: %v", at, err)
		}
	}
}

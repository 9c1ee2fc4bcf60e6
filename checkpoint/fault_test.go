package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// scene is what is in the folder when step 2 is saved with width 5.
type scene struct {
	widths  map[int]int // of the checkpoints that are there, by step
	inSteps bool        // where folders change names in steps
}

var scenes = map[string]scene{
	"the first":                      {},
	"beside an older one":            {map[int]int{1: 2}, false},
	"in place of one":                {map[int]int{1: 2, 2: 3}, false},
	"in place of the only one":       {map[int]int{2: 3}, false},
	"in place of one, in steps":      {map[int]int{1: 2, 2: 3}, true},
	"in place of the only, in steps": {map[int]int{2: 3}, true},
}

// set makes the scene in a new folder.
func (s scene) set(t *testing.T) (dir string) {
	dir = t.TempDir()
	for step, width := range s.widths {
		mustSave(t, dir, step, width)
	}
	return dir
}

// mustStand checks that all that was there is whole, and that the checkpoint of step 2 is the new one, the old one or,
// where it was not there, none; it says whether it is the new one.
func (s scene) mustStand(t *testing.T, dir, when string) (saved bool) {
	t.Helper()
	list, err := List(dir)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	found := map[int]bool{}
	for _, e := range list {
		c, err := Open(e.Path)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		width := s.widths[e.Step]
		if model, _ := tensors(2, 5); e.Step == 2 && c.LoadModel(blank(model)) == nil {
			saved, width = true, 5
		}
		mustHold(t, c, e.Step, width)
		found[e.Step] = true
	}
	for step := range s.widths {
		if !found[step] {
			t.Fatalf("%s: step %d is lost", when, step)
		}
	}
	return saved
}

// mustGoOn saves once more, on a disk that is sound again.
func (s scene) mustGoOn(t *testing.T, dir, when string) {
	t.Helper()
	mustSave(t, dir, 2, 5)
	if !s.mustStand(t, dir, when) {
		t.Fatalf("%s: the next save is not there", when)
	}
	if _, err := Clean(dir); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	want := len(s.widths)
	if s.widths[2] == 0 {
		want++
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
		t.Fatalf("%s: left are %v, %v", when, entries, err)
	}
}

// Every operation of a save can fail, alone or with all that come after it, for any reason: it is said, what was there
// is whole, nothing half-written has a checkpoint's name, and once the disk is sound again the next save succeeds.
func TestAnyOperationFails(t *testing.T) {
	const always = 1 << 30
	for name, s := range scenes {
		for _, c := range []struct {
			cause error
			more  int // operations that fail after the first
			full  bool
		}{{syscall.EIO, 0, false}, {syscall.EROFS, always, false}, {syscall.ENOSPC, 0, true}, {syscall.EDQUOT, always, true}} {
			if c.full && name != "beside an older one" {
				continue // the cause changes the message alone
			}
			at, silent := 1, 0
			for ; ; at++ {
				when := fmt.Sprintf("%s, %v at operation %d and %d more", name, c.cause, at, c.more)
				dir := s.set(t)
				d := failing(at, at+c.more, func() error { return c.cause })
				d.inSteps = s.inSteps
				path, err := save(d, dir, 2, content(2, 5))
				if d.count < at {
					if err != nil || path == "" {
						t.Fatalf("%s: nothing failed, and it says %q, %v", when, path, err)
					}
					break
				}
				switch {
				case err == nil: // what the new one has replaced can't be removed: that is for Clean
					silent++
				case path != "" && contains(err.Error(), "is written, but a power cut could still lose it"):
				case path != "" || !c.full && !contains(err.Error(), "was not saved, and the older checkpoints are as they were"),
					c.full != errors.As(err, new(*NoSpaceError)), !errors.Is(err, c.cause):
					t.Fatalf("%s: %q, %v", when, path, err)
				}
				if _, err := Restore(dir); err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				if saved := s.mustStand(t, dir, when); saved != (path != "") {
					t.Fatalf("%s: saved is %v, and it says %q, %v", when, saved, path, err)
				}
				s.mustGoOn(t, dir, when)
			}
			if at < 15 || silent > 5 { // the renaming in steps, three files, the folder
				t.Errorf("%s: %d operations, %d fail without a word", name, at-1, silent)
			}
		}
	}
}

// So can any byte of a save be the last one that is written; nothing is left over then.
func TestAnyByteFails(t *testing.T) {
	for _, name := range []string{"the first", "in place of one"} {
		s := scenes[name]
		dir := s.set(t)
		for bytes := int64(0); ; bytes += 7 { // a disk that is full is tried with every number
			when := fmt.Sprintf("%s, after %d bytes", name, bytes)
			path, err := save(small(bytes, syscall.EIO), dir, 2, content(2, 5))
			if err == nil {
				if bytes < 1000 {
					t.Errorf("%s: nothing fails", when)
				}
				break
			}
			if path != "" || !errors.Is(err, syscall.EIO) || s.mustStand(t, dir, when) {
				t.Fatalf("%s: %q, %v", when, path, err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(s.widths) {
				t.Fatalf("%s: left are %v, %v", when, entries, err)
			}
		}
	}
}

// Where the folder of all checkpoints can't be made, nothing is saved, and it is said why.
func TestNewFolderFails(t *testing.T) {
	cause := errors.New("input/output error")
	for at := 1; at <= 4; at++ { // two folders, each with the sync of its name
		dir := filepath.Join(t.TempDir(), "runs", "first")
		path, err := save(failing(at, at, func() error { return cause }), dir, 2, content(2, 2))
		if path != "" || !errors.Is(err, cause) || !contains(err.Error(), "was not saved") {
			t.Errorf("operation %d: %q, %v", at, path, err)
		}
	}
}

// What can't be removed either is said too, and stays for Clean.
func TestRemovingFailsAfterASave(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	n := 0
	d := failing(4, 1<<30, func() error { n++; return fmt.Errorf("fault %d", n) })
	_, err := save(d, dir, 2, content(2, 2))
	if err == nil || !contains(err.Error(), "fault 1") || !contains(err.Error(), fmt.Sprintf("fault %d", n)) || n < 2 {
		t.Errorf("%d faults, and the error is %v", n, err)
	}
	if left, err := Leftovers(dir); err != nil || len(left) != 1 {
		t.Errorf("left is %v, %v", left, err)
	}
	if removed, err := Clean(dir); err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v", removed, err)
	}
}

// Every operation of removing can fail: it is said, what hasn't lost its name is whole, and the others are removed all
// the same.
func TestAnyRemovalFails(t *testing.T) {
	cause := errors.New("input/output error")
	for what, remove := range map[string]func(d disk, dir string) ([]string, error){
		"Prune": func(d disk, dir string) ([]string, error) { return prune(d, dir, Keep{Last: 1}) },
		"RemoveOthers": func(d disk, dir string) ([]string, error) {
			return nil, removeOthers(d, dir, filepath.Join("elsewhere", Name(3)))
		},
	} {
		failed := 0
		for at := 1; ; at++ {
			dir := t.TempDir()
			for step := range 4 {
				mustSave(t, dir, step, 2)
			}
			d := failing(at, at, func() error { return cause })
			removed, err := remove(d, dir)
			if d.count < at {
				if err != nil {
					t.Fatalf("%s: nothing failed, and it says %v", what, err)
				}
				break
			}
			failed++
			list, listErr := List(dir)
			if listErr != nil || len(list) == 0 || list[len(list)-1].Step != 3 || len(list) > 2 {
				t.Fatalf("%s, operation %d: left are %v, %v", what, at, list, listErr)
			}
			for _, e := range list {
				if _, err := Open(e.Path); err != nil {
					t.Errorf("%s, operation %d: %v", what, at, err)
				}
			}
			if what == "Prune" && len(list)+len(removed) != 4 {
				t.Errorf("operation %d: named are %v, left %v", at, removed, list)
			}
			if _, cleanErr := Clean(dir); !errors.Is(err, cause) || cleanErr != nil {
				t.Errorf("%s, operation %d: %v, and then %v", what, at, err, cleanErr)
			}
		}
		if failed != 15 { // three checkpoints: a rename, three files, the folder
			t.Errorf("%s: %d operations failed", what, failed)
		}
	}
}

// Clean goes on after a leftover that can't be removed, and says which.
func TestCleanFails(t *testing.T) {
	cause := errors.New("input/output error")
	for at := 1; at <= 4; at++ {
		dir := t.TempDir()
		for step := range 2 {
			if err := os.Rename(mustSave(t, dir, step, 2), tempName(dir, step)); err != nil {
				t.Fatal(err)
			}
		}
		removed, err := clean(failing(at, at, func() error { return cause }), dir)
		if !errors.Is(err, cause) || !contains(err.Error(), "leftover of a save") || len(removed) != 1 {
			t.Errorf("operation %d: removed %v, %v", at, removed, err)
		}
	}
	dir := t.TempDir()
	for step := range 2 {
		if err := os.Mkdir(tempName(dir, step), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	_, err := clean(failing(1, 1<<30, func() error { return cause }), dir)
	if err == nil || strings.Count(err.Error(), "leftover of a save") != 2 {
		t.Errorf("two that can't be removed: %v", err)
	}
	// One that holds other files can't be given another name.
	dir = t.TempDir()
	left := tempName(dir, 1)
	if err := errors.Join(os.Mkdir(left, 0o777), os.WriteFile(filepath.Join(left, "notes"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if removed, err := clean(failing(5, 5, func() error { return cause }), dir); !errors.Is(err, cause) || removed != nil {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := os.WriteFile(filepath.Join(dir, Name(1)), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if moved, err := setAside(failing(1, 1, func() error { return cause }), dir, 1); !errors.Is(err, cause) || moved != "" {
		t.Errorf("moved to %q, %v", moved, err)
	}
}

// Each folder that is missing is made and its name synced. What goes wrong is said, but for a parent that
// can't be read.
func TestMakeDirFails(t *testing.T) {
	for _, cause := range []error{errors.New("input/output error"), fs.ErrPermission} {
		for at := 1; at <= 5; at++ {
			dir := filepath.Join(t.TempDir(), "a", "b")
			d := failing(at, at, func() error { return cause })
			err := makeDir(d, dir)
			fails := at == 1 || at == 3 || (at == 2 || at == 4) && cause != fs.ErrPermission
			if fails != errors.Is(err, cause) || !fails && err != nil {
				t.Errorf("operation %d: %v", at, err)
			}
			if _, err := os.Stat(dir); at > 4 && (err != nil || d.count != 4) {
				t.Errorf("%d operations, %v", d.count, err)
			}
		}
	}
	// Somebody else makes the folder between the look and the making.
	dir := filepath.Join(t.TempDir(), "a")
	d := failing(1, 1, func() error { return errors.Join(fs.ErrExist, os.Mkdir(dir, 0o777)) })
	if err := makeDir(d, dir); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "a")
	d = failing(1, 1, func() error { return errors.Join(fs.ErrExist, os.WriteFile(file, nil, 0o666)) })
	if err := makeDir(d, file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file in its place: %v", err)
	}
}

package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// faulty is a disk on which the operation number `at` goes wrong, and those after it up to `until`: fail is called
// instead of it, or in the middle of it if it is a write. Numbers count from 1; syncs are left out to keep the tests
// quick.
type faulty struct {
	osDisk
	at, until, count int
	fail             func() error
}

func (d *faulty) step() error {
	if d.count++; d.count == d.at || d.at < d.count && d.count <= d.until {
		return d.fail()
	}
	return nil
}

func (d *faulty) Mkdir(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.Mkdir(path)
}

func (d *faulty) Create(path string) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Create(path)
	return &faultyFile{f, d}, err
}

func (d *faulty) SyncDir(string) error { return d.step() }

func (d *faulty) Replace(temp, final string) error {
	if err := d.step(); err != nil {
		return err
	}
	if err := d.osDisk.Replace(temp, final); err != nil {
		return err
	}
	d.step() // a kill right after it
	return nil
}

type faultyFile struct {
	file
	d *faulty
}

func (f *faultyFile) Write(b []byte) (int, error) {
	half := len(b) / 2
	if n, err := f.file.Write(b[:half]); err != nil {
		return n, err
	}
	if err := f.d.step(); err != nil {
		return half, err
	}
	n, err := f.file.Write(b[half:])
	return half + n, err
}

func (f *faultyFile) Sync() error { return f.d.step() }

func (f *faultyFile) Close() error { return errors.Join(f.file.Close(), f.d.step()) }

func (d *faulty) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.Rename(from, to)
}

func (d *faulty) Remove(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.Remove(path)
}

// Every operation of a save can fail, not only writes.
func TestAnyOperationFails(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	model, optimizer := tensors(2, 2)
	broken := errors.New("input/output error")
	for _, cause := range []error{syscall.ENOSPC, broken} {
		failed := 0
		for at := 1; ; at++ {
			d := &faulty{at: at, fail: func() error { return cause }}
			path, err := save(d, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
			if err == nil && at < d.count { // failed where nothing depends on it
				os.RemoveAll(path)
				continue
			}
			if err == nil {
				break
			}
			failed++
			if !errors.Is(err, cause) {
				t.Fatalf("operation %d: %v", at, err)
			}
			if path != "" { // only the sync of the name failed
				c, err := Open(path)
				if err != nil {
					t.Fatal(err)
				}
				mustHold(t, c, 2, 2)
				os.RemoveAll(path)
			} else if cause == syscall.ENOSPC {
				refusedForSpace(t, dir, err)
			} else if entries, _ := os.ReadDir(dir); len(entries) != 1 || !contains(err.Error(), "was not saved") {
				t.Fatalf("operation %d: %v, %v", at, err, entries)
			}
		}
		if failed < 10 {
			t.Errorf("only %d operations failed", failed)
		}
		os.RemoveAll(filepath.Join(dir, Name(2)))
	}
}

// What can't be removed either is said too, and stays for Clean.
func TestRemovingFailsAfterASave(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	n := 0
	d := &faulty{at: 4, until: 1 << 30, fail: func() error { n++; return fmt.Errorf("fault %d", n) }}
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
			d := &faulty{at: at, fail: func() error { return cause }}
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
		removed, err := clean(&faulty{at: at, fail: func() error { return cause }}, dir)
		if !errors.Is(err, cause) || !contains(err.Error(), "leftover of a save") || len(removed) != 1 {
			t.Errorf("operation %d: removed %v, %v", at, removed, err)
		}
	}
	// One that holds other files can't be given another name.
	dir := t.TempDir()
	left := tempName(dir, 1)
	if err := errors.Join(os.Mkdir(left, 0o777), os.WriteFile(filepath.Join(left, "notes"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if removed, err := clean(&faulty{at: 5, fail: func() error { return cause }}, dir); !errors.Is(err, cause) || removed != nil {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := os.WriteFile(filepath.Join(dir, Name(1)), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if moved, err := setAside(&faulty{at: 1, fail: func() error { return cause }}, dir, 1); !errors.Is(err, cause) || moved != "" {
		t.Errorf("moved to %q, %v", moved, err)
	}
}

// Each folder that is missing is made and its name synced. What goes wrong is said, but for a parent that
// can't be read.
func TestMakeDirFails(t *testing.T) {
	for _, cause := range []error{errors.New("input/output error"), fs.ErrPermission} {
		for at := 1; at <= 5; at++ {
			dir := filepath.Join(t.TempDir(), "a", "b")
			d := &faulty{at: at, fail: func() error { return cause }}
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
	d := &faulty{at: 1, fail: func() error { return errors.Join(fs.ErrExist, os.Mkdir(dir, 0o777)) }}
	if err := makeDir(d, dir); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "a")
	d = &faulty{at: 1, fail: func() error { return errors.Join(fs.ErrExist, os.WriteFile(file, nil, 0o666)) }}
	if err := makeDir(d, file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file in its place: %v", err)
	}
}

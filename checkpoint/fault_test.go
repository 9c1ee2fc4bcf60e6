package checkpoint

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// faulty is a disk on which the operation number `at` goes wrong: fail is called instead of it, or in the
// middle of it if it is a write. Numbers count from 1; syncs are left out to keep the tests quick.
type faulty struct {
	osDisk
	at, count int
	fail      func() error
}

func (d *faulty) step() error {
	if d.count++; d.count == d.at {
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

// width of the model in the kill test: its tensors take some tens of writes.
const killWidth = 50_000

// child is the process that is killed: it saves step 2 and kills itself, with SIGKILL where there is one, at
// its operation number args[1].
func child(_ string, args []string) int {
	at, err := strconv.Atoi(args[1])
	if err != nil {
		return 3
	}
	d := &faulty{at: at, fail: func() error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			os.Exit(4)
		}
		select {}
	}}
	model, optimizer := tensors(2, killWidth)
	if _, err := save(d, args[0], 2, Content{Model: model, Optimizer: optimizer, State: theState(2)}); err != nil {
		return 5
	}
	return 0
}

func TestKilledWhileSaving(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 5)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills, leftovers := 0, 0
	for at := 1; ; at++ {
		cmd := exec.CommandContext(context.Background(), program, dir, strconv.Itoa(at))
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_CHILD=kill")
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code > 1 {
			t.Fatalf("kill at operation %d: exit code %d, %v", at, code, err)
		}
		c, damaged, latestErr := Latest(dir)
		if latestErr != nil || len(damaged) != 0 || c == nil {
			t.Fatalf("kill at operation %d: %v %v", at, damaged, latestErr)
		}
		if err == nil {
			mustHold(t, c, 2, killWidth)
			break
		}
		kills++
		if c.Step == 1 {
			mustHold(t, c, 1, 5)
		} else { // killed after it had the final name
			mustHold(t, c, 2, killWidth)
		}
		named, errNamed := Leftovers(dir)
		removed, errClean := Clean(dir)
		if errNamed != nil || errClean != nil || len(named) != len(removed) || len(named) > 1 {
			t.Fatalf("kill at operation %d: leftovers %v %v, removed %v %v", at, named, errNamed, removed, errClean)
		}
		leftovers += len(named)
	}
	if kills < 50 || leftovers < 45 {
		t.Errorf("%d kills with %d leftovers: too few to be spread over the save", kills, leftovers)
	}
}

// While a checkpoint is replaced by another of the same step, one of the two is there at every moment.
func TestKilledWhileReplacing(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; ; at += 7 {
		mustSave(t, dir, 2, 5)
		cmd := exec.CommandContext(context.Background(), program, dir, strconv.Itoa(at))
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_CHILD=kill")
		err := cmd.Run()
		c, damaged, latestErr := Latest(dir)
		if latestErr != nil || len(damaged) != 0 || c == nil {
			t.Fatalf("kill at operation %d: %v %v", at, damaged, latestErr)
		}
		model, _ := tensors(2, 5)
		if c.LoadModel(blank(model)) == nil {
			mustHold(t, c, 2, 5)
		} else {
			mustHold(t, c, 2, killWidth)
		}
		if _, err := Clean(dir); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			return
		}
	}
}

// full is a disk with room for so many bytes. It knows how much is free only if known is set.
type full struct {
	osDisk
	left  int64
	known bool
}

func (d *full) Free(string) (int64, bool) { return d.left, d.known }
func (d *full) SyncDir(string) error      { return nil }
func (d *full) Create(path string) (file, error) {
	f, err := d.osDisk.Create(path)
	return &fullFile{f, d}, err
}

type fullFile struct {
	file
	d *full
}

func (f *fullFile) Sync() error { return nil }
func (f *fullFile) Write(b []byte) (int, error) {
	n := int(min(int64(len(b)), f.d.left))
	f.d.left -= int64(n)
	n, err := f.file.Write(b[:n])
	if err == nil && n < len(b) {
		err = &os.PathError{Op: "write", Path: "test", Err: syscall.ENOSPC}
	}
	return n, err
}

// refusedForSpace checks what has to be true after a save of step 2 for which there was no room.
func refusedForSpace(t *testing.T, dir string, err error) *NoSpaceError {
	t.Helper()
	var e *NoSpaceError
	if !errors.As(err, &e) || filepath.Base(e.Path) != Name(2) || e.Need <= 0 {
		t.Fatalf("got %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder has %v, want the older checkpoint alone (%v)", entries, err)
	}
	c, damaged, err := Latest(dir)
	if err != nil || len(damaged) != 0 {
		t.Fatal(damaged, err)
	}
	mustHold(t, c, 1, 2)
	return e
}

func TestDiskFullAfterAnyNumberOfBytes(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	model, optimizer := tensors(2, 2)
	for room := int64(0); ; room++ {
		_, err := save(&full{left: room}, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
		if err == nil {
			if room < 1000 {
				t.Errorf("a save in %d bytes", room)
			}
			break
		}
		e := refusedForSpace(t, dir, err)
		if !errors.Is(err, syscall.ENOSPC) || e.Free != -1 {
			t.Fatalf("room for %d bytes: %v", room, err)
		}
	}
	c, _, err := Latest(dir)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, c, 2, 2)
}

func TestDiskFullIsFoundBeforeWriting(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	model, optimizer := tensors(2, 2)
	_, err := save(&full{left: 5000, known: true}, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
	e := refusedForSpace(t, dir, err)
	if e.Free != 5000 || e.Err != nil {
		t.Errorf("%+v", e)
	}
	want := "needs 16384 bytes, and only 5000 bytes are free" // a block each for three files and the folder
	if text := e.Error(); !contains(text, want) || !contains(text, "older checkpoints are as they were") {
		t.Errorf("got %q, want %q in it", text, want)
	}
	if _, err := save(&full{left: e.Need, known: true}, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)}); err != nil {
		t.Errorf("with the bytes that were asked for: %v", err)
	}
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

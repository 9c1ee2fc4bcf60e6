package checkpoint

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

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
	for bytes := int64(0); ; bytes++ {
		_, err := save(small(bytes, syscall.ENOSPC), dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
		if err == nil {
			if bytes < 1000 {
				t.Errorf("a save in %d bytes", bytes)
			}
			break
		}
		e := refusedForSpace(t, dir, err)
		if !errors.Is(err, syscall.ENOSPC) || e.Free != -1 || e.FreeFiles != -1 {
			t.Fatalf("room for %d bytes: %v", bytes, err)
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
	_, err := save(&faults{free: room{5000, 100}}, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
	e := refusedForSpace(t, dir, err)
	if e.Free != 5000 || e.FreeFiles != 100 || e.Err != nil {
		t.Errorf("%+v", e)
	}
	want := "needs 16384 bytes, and only 5000 bytes are free" // a block each for three files and the folder
	if text := e.Error(); !contains(text, want) || !contains(text, "older checkpoints are as they were") {
		t.Errorf("got %q, want %q in it", text, want)
	}
	if _, err := save(&faults{free: room{e.Need, 0}}, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)}); err != nil {
		t.Errorf("with the bytes that were asked for: %v", err)
	}
}

// The message says what is used up: bytes, or the files or the quota of a disk that has bytes enough.
func TestNoSpaceSaysWhatIsUsedUp(t *testing.T) {
	inodes := &os.PathError{Op: "mkdir", Path: "x", Err: syscall.ENOSPC}
	quota := &os.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}
	for _, c := range []struct {
		free      int64
		err       error
		want, not string
		files     int64
	}{
		{1000, nil, "needs 1781760 bytes (1.8 MB), and only 1000 bytes are free; it was not saved, and the older", "df -i", -1},
		{1000, nil, "or keep fewer checkpoints", "<nil>", -1},
		{1000, inodes, "only 1000 bytes are free", "df -i", -1},
		{1781759, inodes, "only 1781759 bytes (1.8 MB) are free", "df -i", -1},
		{1781760, inodes, "although 1781760 bytes (1.8 MB) are free", "only", -1},
		{2_500_000_000, inodes, "refused to write it although 2500000000 bytes (2.5 GB) are free", "only", -1},
		{63549440, inodes, "(df -i)", "free some space", -1},
		{-1, inodes, "and the disk is full", "only", -1},
		{0, inodes, "only 0 bytes are free", "df -i", -1},
		{63549440, quota, "the disk quota is used up", "free some space", -1},
		{-1, quota, "the disk quota is used up", "disk is full", -1},
		{63549440, inodes, "(mkdir x: no space left on device)", "quota is used up", -1},
		{63549440, inodes, "it is 4 files and folders, and no more than 3 can be made there although 63549440 bytes (63.5 MB) are free", "refused", 3},
		{63549440, inodes, "although 63549440 bytes (63.5 MB) are free", "files and folders", 4},
		{1000, inodes, "only 1000 bytes are free", "files and folders", 0},
		{63549440, quota, "the disk quota is used up", "files and folders", 0},
	} {
		e := &NoSpaceError{Path: "run/step-00000002", Need: 1781760, Free: c.free, FreeFiles: c.files, Err: c.err}
		if text := e.Error(); !contains(text, c.want) || contains(text, c.not) || !contains(text, "run/step-00000002") {
			t.Errorf("%d bytes free, %v: got %q, want %q in it and %q not", c.free, c.err, text, c.want, c.not)
		}
		if !errors.Is(e, c.err) && c.err != nil {
			t.Errorf("%v is lost", c.err)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 999_999: "999999 bytes", 1_000_000: "1000000 bytes (1.0 MB)", 999_949_999: "999949999 bytes (999.9 MB)",
		1_000_000_000: "1000000000 bytes (1.0 GB)",
	} {
		if got := size(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a checkpoint will take is known before it is saved, and is enough for it.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	c := content(2, 500)
	for _, tensors := range [][]Tensor{c.Model, c.Optimizer} {
		for i := range tensors {
			tensors[i].Save = func(io.Writer) error { t.Error("Save was called"); return nil }
		}
	}
	c.Description = map[string]string{"vocabulary": strings.Repeat("x", 10_000)}
	for _, where := range []string{dir, filepath.Join(dir, "runs", "first")} {
		s, err := measure(&faults{free: room{100_000, 50}}, where, 2, c)
		// 6000 + 2000 bytes of weights, twice as many of moments, 10 kB of text: in blocks of 4 KiB, with headers.
		if err != nil || s.Free != 100_000 || s.FreeFiles != 50 || s.Need != 5*4096+5*4096-4096+4096+4096 {
			t.Errorf("%+v, %v", s, err)
		}
		if s, err := Measure(where, 2, c); err != nil || s.Free <= 0 && runtime.GOOS == "linux" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	s, err := measure(quick(), dir, 2, c)
	if err != nil || s.Free != -1 || s.FreeFiles != -1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Measure(dir, -1, c); err == nil || !contains(err.Error(), "steps begin") {
		t.Error(err)
	}
	if _, err := Measure(dir, 1, Content{Model: c.Model, Optimizer: append(c.Model, c.Model[0])}); err == nil ||
		!contains(err.Error(), OptimizerFile+": two tensors are named") {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("measuring has made %v, %v", entries, err)
	}
	for _, c := range []struct {
		space Space
		n     int
		want  string
	}{
		{Space{100, -1, -1}, 1, "a checkpoint takes 100 bytes"},
		{Space{100, 0, -1}, 1, "a checkpoint takes 100 bytes, and 0 bytes are free"},
		{Space{1 << 20, 3 << 20, 8}, 2, "a checkpoint takes 1048576 bytes (1.0 MB), and 3145728 bytes (3.1 MB) are free"},
		{Space{100, 300, 8}, 3, "a checkpoint takes 100 bytes, and 300 bytes are free; it is 4 files and folders, and no more than 8 can be made there (df -i)"},
		{Space{100, -1, 0}, 1, "a checkpoint takes 100 bytes; it is 4 files and folders, and no more than 0 can be made there (df -i)"},
	} {
		if got := c.space.Lack(c.n); got != c.want {
			t.Errorf("%+v for %d: %q, want %q", c.space, c.n, got, c.want)
		}
	}
	for free, fits := range map[room][]bool{
		{-1, -1}: {true, true}, {0, -1}: {false, false}, {99, 8}: {false, false}, {100, 8}: {true, false}, {199, -1}: {true, false},
		{200, 8}: {true, true}, {200, 7}: {true, false}, {200, 3}: {false, false}, {200, 0}: {false, false}, {-1, 4}: {true, false},
	} {
		s := Space{Need: 100, Free: free.bytes, FreeFiles: free.files}
		if s.Fits(1) != fits[0] || s.Fits(2) != fits[1] {
			t.Errorf("%+v free of 100 bytes: one %v, two %v", free, s.Fits(1), s.Fits(2))
		}
	}
}

// Before a run begins the disk is asked for a whole checkpoint, and what it refuses is said as a save would say it.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	c := content(2, 500)
	for _, tensors := range [][]Tensor{c.Model, c.Optimizer} {
		for i := range tensors {
			tensors[i].Save = func(io.Writer) error { t.Error("Save was called"); return nil }
		}
	}
	alone := func(what string) {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s leaves %v, %v", what, entries, err)
		}
	}
	if err := Try(dir, 2, c); err != nil {
		t.Error(err)
	}
	alone("a disk with room")
	if err := Try(dir, -1, c); err == nil || !contains(err.Error(), "steps begin") {
		t.Error(err)
	}
	d := quick()
	if err := try(d, dir, 2, c); err != nil || d.count != 8 { // a folder and three files, made and removed
		t.Errorf("%d operations, %v", d.count, err)
	}
	for _, cause := range []error{syscall.EDQUOT, syscall.ENOSPC, syscall.EROFS} {
		for at := 1; at <= 8; at++ {
			d := failing(at, at, func() error { return cause })
			d.free = room{1 << 40, 3}
			err := try(d, dir, 2, c)
			if !errors.Is(err, cause) || errors.As(err, new(*NoSpaceError)) != (cause != syscall.EROFS) {
				t.Errorf("operation %d: %v", at, err)
			}
			if _, err := Clean(dir); err != nil { // where it couldn't be removed
				t.Error(err)
			}
			alone("a disk that refuses")
		}
	}
}

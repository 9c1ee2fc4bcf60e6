package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// full is a disk with room for so many bytes. It knows how much is free only if known is set.
type full struct {
	osDisk
	left  int64
	known bool
}

func (d *full) Free(string) (int64, bool) { return d.left, d.known }

func (d *full) SyncDir(string) error { return nil }

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

// The message says what is used up: bytes, or the files or the quota of a disk that has bytes enough.
func TestNoSpaceSaysWhatIsUsedUp(t *testing.T) {
	inodes := &os.PathError{Op: "mkdir", Path: "x", Err: syscall.ENOSPC}
	quota := &os.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}
	for _, c := range []struct {
		free      int64
		err       error
		want, not string
	}{
		{1000, nil, "needs 1781760 bytes (1.8 MB), and only 1000 bytes are free; it was not saved, and the older", "df -i"},
		{1000, nil, "or keep fewer checkpoints", "<nil>"},
		{1000, inodes, "only 1000 bytes are free", "df -i"},
		{1781759, inodes, "only 1781759 bytes (1.8 MB) are free", "df -i"},
		{1781760, inodes, "although 1781760 bytes (1.8 MB) are free", "only"},
		{2_500_000_000, inodes, "refused to write it although 2500000000 bytes (2.5 GB) are free", "only"},
		{63549440, inodes, "(df -i)", "free some space"},
		{-1, inodes, "and the disk is full", "only"},
		{0, inodes, "only 0 bytes are free", "df -i"},
		{63549440, quota, "the disk quota is used up", "free some space"},
		{-1, quota, "the disk quota is used up", "disk is full"},
		{63549440, inodes, "(mkdir x: no space left on device)", "quota is used up"},
	} {
		e := &NoSpaceError{Path: "run/step-00000002", Need: 1781760, Free: c.free, Err: c.err}
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

// asked is a disk that remembers where it was asked for what is free.
type asked struct {
	osDisk
	path string
}

func (d *asked) Free(path string) (int64, bool) {
	d.path = path
	return 0, false
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
		s, err := measure(&full{left: 100_000, known: true}, where, 2, c)
		// 6000 + 2000 bytes of weights, twice as many of moments, 10 kB of text: in blocks of 4 KiB, with headers.
		if err != nil || s.Free != 100_000 || s.Need != 5*4096+5*4096-4096+4096+4096 {
			t.Errorf("%+v, %v", s, err)
		}
		if s, err := Measure(where, 2, c); err != nil || s.Free <= 0 && runtime.GOOS == "linux" {
			t.Errorf("%+v, %v", s, err)
		}
	}
	asked := &asked{}
	if _, err := measure(asked, filepath.Join(dir, "runs", "first"), 2, c); err != nil || asked.path != dir {
		t.Errorf("asked for what is free in %s, not in %s (%v)", asked.path, dir, err)
	}
	s, err := measure(&full{left: 100_000}, dir, 2, c)
	if err != nil || s.Free != -1 {
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
	if text := s.String(); text != fmt.Sprintf("a checkpoint takes %d bytes", s.Need) {
		t.Error(text)
	}
	if text := (Space{100, 0}).String(); text != "a checkpoint takes 100 bytes, and 0 bytes are free" {
		t.Error(text)
	}
	if text := (Space{1 << 20, 3 << 20}).String(); text != "a checkpoint takes 1048576 bytes (1.0 MB), and 3145728 bytes (3.1 MB) are free" {
		t.Error(text)
	}
	for free, fits := range map[int64][]bool{-1: {true, true}, 0: {false, false}, 99: {false, false}, 100: {true, false}, 199: {true, false}, 200: {true, true}} {
		s := Space{Need: 100, Free: free}
		if s.Fits(1) != fits[0] || s.Fits(2) != fits[1] {
			t.Errorf("%d bytes free of 100: one %v, two %v", free, s.Fits(1), s.Fits(2))
		}
	}
}

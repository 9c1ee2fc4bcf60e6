package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onSmallDisk saves to a disk of 1 MB. sees knows how much is free, blind doesn't say.
func onSmallDisk(t *testing.T, dir string, sees, blind func() disk) {
	mustSave(t, dir, 1, 2)
	model, optimizer := tensors(2, 30_000) // 480 kB and 960 kB
	c := Content{Model: model, Optimizer: optimizer, State: theState(2)}
	_, err := save(sees(), dir, 2, c)
	if e := refusedForSpace(t, dir, err); e.Err != nil || e.Free <= 0 || e.Free > 1<<20 || e.Need < 1_440_000 {
		t.Errorf("found before writing: %v", err)
	}
	_, err = save(blind(), dir, 2, c)
	if e := refusedForSpace(t, dir, err); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("found while writing: %v", e)
	}
}

// notMounted is the exit code of a child that could not mount its file system.
const notMounted = 77

// TestSmallFileSystem saves to a real file system of 1 MB, mounted in a name space of a child process: no one else sees
// it, and it is gone with the child. Where the system doesn't allow that, the same happens on a disk that plays it.
func TestSmallFileSystem(t *testing.T) {
	if dir := os.Getenv("CHECKPOINT_TEST_MOUNT"); dir != "" {
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") // so that nobody outside sees it
		if err == nil {
			err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m")
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(notMounted)
		}
		onSmallDisk(t, dir, func() disk { return osDisk{} }, func() disk { return blindDisk{} })
		onFewFiles(t, dir)
		return
	}
	for _, spaces := range []uintptr{syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, syscall.CLONE_NEWNS} { // the second as root
		cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestSmallFileSystem$", "-test.v")
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_MOUNT="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: spaces}
		if spaces&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if err == nil {
			return
		}
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() != notMounted {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("no file system of its own: %v\n%s", err, out)
	}
	const size = 1 << 20
	playing := func(free room) func() disk {
		return func() disk {
			d := small(size, syscall.ENOSPC)
			d.free = free
			return d
		}
	}
	onSmallDisk(t, t.TempDir(), playing(room{size, -1}), playing(unknown))
}

// onFewFiles saves where no more than a few files can be made, though there are bytes enough.
func onFewFiles(t *testing.T, dir string) {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,nr_inodes=8"); err != nil { // over the other one
		t.Fatal(err)
	}
	mustSave(t, dir, 1, 2)
	c := content(2, 2)
	var e *NoSpaceError
	for what, err := range map[string]error{"Try": Try(dir, 2, c), "Save": second(Save(dir, 2, c))} {
		if !errors.As(err, &e) || e.FreeFiles != 3 || e.Free < e.Need || !contains(err.Error(), "no more than 3 can be made there") {
			t.Errorf("%s: %v", what, err)
		}
	}
	space, err := Measure(dir, 2, c)
	if err != nil || space.Fits(1) || !contains(space.Lack(1), "no more than 3 can be made there") {
		t.Errorf("%s, %v", space.Lack(1), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := unix.Unmount(dir, 0); err != nil {
		t.Error(err)
	}
}

// blindDisk is the real disk that doesn't say what is free.
type blindDisk struct{ osDisk }

func (blindDisk) Free(string) room { return unknown }

// fullDisk is the real disk, but for files of one name, which are the system's device that is always full.
type fullDisk struct {
	osDisk
	name string
}

func (d fullDisk) Create(path string) (file, error) {
	f, err := d.osDisk.Create(path)
	if err != nil || !contains(path, d.name) {
		return f, err
	}
	return os.OpenFile("/dev/full", os.O_WRONLY, 0)
}

// The system's own error, at each of the files.
func TestFullDevice(t *testing.T) {
	for _, name := range files {
		dir := t.TempDir()
		mustSave(t, dir, 1, 2)
		_, err := save(fullDisk{name: name}, dir, 2, content(2, 2))
		if e := refusedForSpace(t, dir, err); !errors.Is(err, syscall.ENOSPC) || !contains(e.Error(), "the system refused to write it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFileSizeLimit saves under a limit for the size of a file (ulimit -f), at every number of bytes: the system then
// writes a part of what it is asked for, and refuses the rest. The limit holds for a whole process, so it is a child's.
func TestFileSizeLimit(t *testing.T) {
	if os.Getenv("CHECKPOINT_TEST_LIMIT") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFileSizeLimit$", "-test.v")
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_LIMIT=1")
		if out, err := cmd.CombinedOutput(); err != nil { // a pipe has no such limit
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	var limit syscall.Rlimit
	set := func(bytes uint64) {
		limit.Cur = min(bytes, limit.Max)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustSave(t, dir, 1, 2)
	for bytes := uint64(0); ; bytes++ {
		set(bytes)
		path, err := save(quick(), dir, 2, content(2, 2))
		set(limit.Max)
		if err == nil {
			if bytes < 300 {
				t.Errorf("a save with files of %d bytes", bytes)
			}
			os.RemoveAll(path)
			break
		}
		if !errors.Is(err, syscall.EFBIG) || !contains(err.Error(), "was not saved, and the older checkpoints are as they were") {
			t.Fatalf("files of %d bytes: %v", bytes, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Fatalf("files of %d bytes: left are %v, %v", bytes, entries, err)
		}
	}
	c, damaged, err := Latest(dir)
	if err != nil || len(damaged) > 0 {
		t.Fatal(damaged, err)
	}
	mustHold(t, c, 1, 2)
}

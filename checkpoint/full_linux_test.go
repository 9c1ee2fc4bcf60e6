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

// TestSmallFileSystem saves to a real file system of 1 MB, mounted in a name space of a child process: no one
// else sees it, and it is gone with the child. Where the system doesn't allow that the test is skipped.
func TestSmallFileSystem(t *testing.T) {
	if os.Getenv("CHECKPOINT_TEST_MOUNT") == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(context.Background(), program, "-test.run=^TestSmallFileSystem$", "-test.v")
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_MOUNT="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 77 {
			t.Skipf("skipped: this system doesn't let a test mount a small file system (%v)\n%s", err, out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dir := os.Getenv("CHECKPOINT_TEST_MOUNT")
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		fmt.Println(err)
		os.Exit(77)
	}
	mustSave(t, dir, 1, 2)
	model, optimizer := tensors(2, 30_000) // 480 kB and 960 kB
	_, err := Save(dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
	if e := refusedForSpace(t, dir, err); e.Err != nil || e.Free <= 0 || e.Free > 1<<20 || e.Need < 1_440_000 {
		t.Errorf("found before writing: %v", err)
	}
	_, err = save(blindDisk{}, dir, 2, Content{Model: model, Optimizer: optimizer, State: theState(2)})
	if e := refusedForSpace(t, dir, err); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("found while writing: %v", e)
	}
}

// blindDisk is the real disk that doesn't say what is free.
type blindDisk struct{ osDisk }

func (blindDisk) Free(string) (int64, bool) { return 0, false }

//go:build linux && strace

package checkpoint

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// systemCalls are those by which a save changes the disk.
var systemCalls = []string{"mkdirat", "openat", "write", "fsync", "close", "renameat", "renameat2", "unlinkat"}

// A save on the real disk is killed at each of its system calls before it is made, that in place of a checkpoint of the
// same step too. It needs strace: `go test -tags strace -run EverySystemCall ./checkpoint`.
func TestKilledAtEverySystemCall(t *testing.T) {
	for name, there := range map[string]map[int]int{"beside an older one": {1: 5}, "in place of one": {1: 5, 2: 7}} {
		kills, saved := 0, 0
		for _, call := range systemCalls {
			for at := 1; ; at++ {
				when := fmt.Sprintf("%s, %s number %d", name, call, at)
				dir := scene{widths: there}.set(t)
				killed := killedAtCall(t, dir, call, at)
				isNew := standsAfterKill(t, dir, when, there)
				if !killed {
					if !isNew {
						t.Fatalf("%s: nothing was killed, and nothing is saved", when)
					}
					break
				}
				kills++
				if isNew {
					saved++
				}
			}
		}
		t.Logf("%s: %d kills, %d of them when the new one had its name", name, kills, saved)
		if kills < 40 || saved < 4 {
			t.Errorf("%s: %d kills, %d with the new checkpoint: too few to be all calls of a save", name, kills, saved)
		}
	}
}

// killedAtCall saves step 2 in a process that is killed when it asks for a system call the at-th time, and says whether
// it did.
func killedAtCall(t *testing.T, dir, call string, at int) bool {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call,
		"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, at), os.Args[0], dir)
	cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_CHILD=save")
	out, err := cmd.CombinedOutput()
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.Exited() && cmd.ProcessState.ExitCode() != 128+9) {
		t.Fatalf("%v\n%s", err, out)
	}
	return err != nil
}

// standsAfterKill checks what must hold whenever a save is killed, and says whether the new checkpoint is there.
func standsAfterKill(t *testing.T, dir, when string, there map[int]int) (isNew bool) {
	t.Helper()
	_, errClean := Clean(dir)
	c, damaged, errLatest := Latest(dir)
	if errClean != nil || errLatest != nil || len(damaged) > 0 || c == nil {
		t.Fatalf("%s: %v, %v, %v", when, errClean, damaged, errLatest)
	}
	model, _ := tensors(2, killWidth)
	if isNew = c.Step == 2 && c.LoadModel(blank(model)) == nil; isNew {
		mustHold(t, c, 2, killWidth)
	} else {
		mustHold(t, c, len(there), there[len(there)])
	}
	older, err := Open(filepath.Join(dir, Name(1)))
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	mustHold(t, older, 1, 5)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 2 {
		t.Fatalf("%s: left are %v, %v", when, entries, err)
	}
	return isNew
}

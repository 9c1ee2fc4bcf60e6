//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a command leaves behind ends with it.
func TestRunGroupEndsTheGroup(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 >/dev/null & echo $!")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := runGroup(cmd); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("process %d still runs ten seconds later", pid)
}

// zombie says whether a process has ended but its parent, by now process 1, hasn't asked yet. It knows Linux alone.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// Under the limit, a process that asks for more memory ends by itself.
func TestMemoryLimit(t *testing.T) {
	const inside = "MUTATE_TEST_MEMORY"
	if os.Getenv(inside) != "" {
		limitMemory()
		block := make([]byte, memoryLimit)
		os.Stdout.WriteString("got " + strconv.Itoa(len(block)))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryLimit$")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	says := string(out) // the second by the race detector, whose own memory meets the limit first
	if err == nil || !strings.Contains(says, "out of memory") && !strings.Contains(says, "failed to allocate") {
		t.Errorf("a process with a limit of %d bytes got as many: error %v\n%s", memoryLimit, err, out)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"konkanitrain/internal/testkit"
)

// mustMem runs konkanitrain mem with a folder and returns what it printed.
func mustMem(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, complaint := runHere(append([]string{"mem", "--checkpoint_dir", dir, "--wait", "60"}, args...)...)
	if code != exitOK || complaint != "" {
		t.Fatalf("mem %v: exit code %d\n%s", args, code, complaint)
	}
	return out
}

// A run in another process is asked, does what it is told, is listed, and can be ended with the command that is named.
func TestMemOfARun(t *testing.T) {
	flags, dir := endless(t)
	s := start(t, dir, flags...)
	s.await(t, "update 3 ") // after which it may take a moment until the run says so itself
	go func() {             // else a full pipe would stop the run
		for s.out.Scan() {
		}
	}()
	run := filepath.Join(dir, "run")

	pid := s.Process.Pid
	testkit.MustContain(t, mustMem(t, run, "info"), fmt.Sprintf("run        in %s: process %d, for ", run, pid), ", update ", ", epoch ",
		"\nallocated ", "\nreserved ", "\nheld ", "\ncap ", "  weights\n", "  first moments\n")
	var report memoryReport
	if err := json.Unmarshal([]byte(mustMem(t, run, "info", "--json")), &report); err != nil {
		t.Fatal(err)
	}
	i := report.Run
	if i == nil || i.PID != pid || i.Update < 2 || i.Allocated <= 0 || i.RSS < 1<<20 || i.PeakRSS < i.RSS || i.Total != report.Machine.Total {
		t.Errorf("%+v", i)
	}
	testkit.MustContain(t, mustMem(t, run, "clear"), fmt.Sprintf("process %d, after update ", pid), "gave back ", "\ncached ", " before, ", " now\n")
	testkit.MustContain(t, mustMem(t, run, "reset"), "begin", "\nits peak ")
	var cleared struct {
		Done         bool
		Note         string
		Before, Info struct{ Update int }
	}
	if err := json.Unmarshal([]byte(mustMem(t, run, "clear", "--json")), &cleared); err != nil {
		t.Fatal(err)
	}
	if !cleared.Done || cleared.Note == "" || cleared.Before.Update < 2 || cleared.Info.Update != cleared.Before.Update {
		t.Errorf("%+v", cleared)
	}

	var all []processReport
	if err := json.Unmarshal([]byte(mustMem(t, run, "processes", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range all {
		if p.PID == os.Getpid() {
			t.Error("this process is listed")
		}
		if p.PID == pid {
			found = true
			if p.Konkanitrain != "train" || p.CheckpointDir != run || p.End != fmt.Sprintf("kill -INT %d", pid) || p.RSS < 1<<20 {
				t.Errorf("%+v", p)
			}
		}
	}
	if !found {
		t.Errorf("process %d is not listed", pid)
	}
	testkit.MustContain(t, mustMem(t, run, "processes"), fmt.Sprintf("  konkanitrain train, checkpoint_dir %s; `kill -INT %d` ends it", run, pid))

	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	state, err := s.Process.Wait()
	if err != nil || state.ExitCode() != exitInterrupted {
		t.Errorf("%v, %v", state, err)
	}
	testkit.MustContain(t, mustMem(t, run, "info"), "run        none in progress: "+run+": no run answers there\n")
	file := touch(t, "file")
	code, out, complaint := runHere("mem", "info", "--checkpoint_dir", file)
	if code != exitFailed || !strings.Contains(out, "run        not known\n") || !strings.Contains(complaint, "can't be asked") {
		t.Errorf("exit code %d, %s%s", code, out, complaint)
	}
	code, _, complaint = runHere("mem", "clear", "--checkpoint_dir", run)
	if code != exitFailed || !strings.Contains(complaint, "no run answers there: give --checkpoint_dir") {
		t.Errorf("exit code %d, %s", code, complaint)
	}
}

// A run that was killed is no run; the one that goes on after it answers.
func TestMemOfAKilledRun(t *testing.T) {
	flags, dir := endless(t)
	run := filepath.Join(dir, "run")
	s := start(t, dir, flags...)
	s.await(t, "update 1 ")
	s.Process.Kill()
	s.end(t)
	if _, err := os.Lstat(filepath.Join(run, "control.sock")); err != nil {
		t.Errorf("it wasn't killed in time: %v", err)
	}
	testkit.MustContain(t, mustMem(t, run, "info"), "none in progress")
	again := start(t, dir, append(flags, "--resume", "auto")...)
	again.await(t, "update 1 ")
	testkit.MustContain(t, mustMem(t, run, "info"), fmt.Sprintf("process %d, ", again.Process.Pid))
	again.Process.Kill()
	again.end(t)
}

//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// runGroup runs a command in a process group of its own and ends the whole group when the command has ended or its
// context is canceled: changed code may leave processes behind.
func runGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error says that nothing is left
	}
	return err
}

// memoryLimit is what each process may take, in bytes: changed code may ask for memory without end.
const memoryLimit = 8 << 30

// limitMemory sets memoryLimit for this process and all that it starts.
func limitMemory() {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_DATA, &l)
	if err == nil && l.Cur > memoryLimit {
		l.Cur = memoryLimit
		err = syscall.Setrlimit(syscall.RLIMIT_DATA, &l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate: changed code may take all memory, for no limit can be set here:", err)
	}
}

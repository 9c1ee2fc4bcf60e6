//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// breakdowns are what Go ends a program for, by the word that it begins its report with.
var breakdowns = map[string]struct {
	says string
	do   func()
}{
	"panic":  {"panic: a goroutine broke", func() { panic("a goroutine broke") }},
	"memory": {"fatal error: ", exhaust},
	"stack": {"fatal error: stack overflow", func() {
		debug.SetMaxStack(1 << 20)
		fmt.Println(deep(1 << 30))
	}},
	"map": {"fatal error: concurrent map", func() {
		m := map[int]int{}
		for {
			for i := range 8 {
				go func() {
					for {
						m[i]++
					}
				}()
			}
			time.Sleep(time.Second)
		}
	}},
	"nil": {"panic: runtime error: invalid memory address", func() { fmt.Println(*nowhere) }},
}

var nowhere *int

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1) + n
}

// exhaust asks for memory that the system doesn't give: more than there are addresses for.
func exhaust() {
	limit := syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	var held [][]byte
	for {
		held = append(held, make([]byte, 1<<30))
	}
}

// breakingMain is the program, with a goroutine that breaks down, as the environment says, once the program reads its
// manifest, which is a pipe.
func breakingMain() {
	go func() {
		pipe, err := os.OpenFile("train.jsonl", os.O_WRONLY, 0) // returns when the program reads
		if err != nil {
			os.Exit(4)
		}
		defer pipe.Close()
		breakdowns[os.Getenv("BREAKDOWN")].do()
	}()
	main()
}

func init() { programs["konkanitrain-breaking"] = breakingMain }

// What Go ends the program for has an exit code of its own, 134 in a shell, and leaves no file with its memory behind.
func TestBreakdown(t *testing.T) {
	for name, b := range breakdowns {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "train.jsonl"), 0o600); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			// The shell allows a file of any size, where the system lets it.
			cmd := exec.Command("sh", "-c", "ulimit -S -c $(ulimit -H -c); exec konkanitrain-breaking --train_manifest train.jsonl")
			cmd.Dir, cmd.Stderr, cmd.Env = dir, &stderr, append(os.Environ(), "BREAKDOWN="+name)
			_ = cmd.Run() // its state says it all
			if strings.Contains(stderr.String(), "ThreadSanitizer failed to allocate") {
				return // the race detector's own memory gave out first, and ended the program in its own way
			}
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || 128+int(status.Signal()) != exitBroken || status.CoreDump() {
				t.Errorf("it ended with %v, want SIGABRT; standard error:\n%.2000s", cmd.ProcessState, stderr.String())
			}
			if !strings.Contains(stderr.String(), b.says) || !strings.Contains(stderr.String(), "goroutine ") {
				t.Errorf("no %q in\n%.2000s", b.says, stderr.String())
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*core*")); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v, %v", left, err)
			}
		})
	}
}

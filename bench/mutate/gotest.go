package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// tester runs the tests of a repository's packages.
type tester struct {
	repo   *repository
	goFlag string // what GOFLAGS holds already
	procs  int    // GOMAXPROCS of what it starts
	limits map[string]func() (time.Duration, error)
}

// newTester returns a tester for opts.workers side by side. Its limits run a package's tests on the code as it is, the
// first time they are asked, and say how long the same tests may take on changed code.
func newTester(ctx context.Context, repo *repository, opts options) (*tester, error) {
	flags, err := goCommand(ctx, repo.root, "env", "GOFLAGS")
	if err != nil {
		return nil, err
	}
	t := &tester{repo: repo, goFlag: string(bytes.TrimSpace(flags)), limits: map[string]func() (time.Duration, error){}}
	t.procs = max(2, runtime.NumCPU()/opts.workers) // one alone would hide what happens between goroutines
	for p := range repo.packages {
		t.limits[p] = sync.OnceValues(func() (time.Duration, error) {
			o, err := t.run(ctx, p, "", time.Hour)
			if err != nil {
				return 0, err
			}
			if o.verdict != survived {
				return 0, fmt.Errorf("the tests of %s fail on the code as it is (%s): mend that first", p, o.test)
			}
			return 4*o.elapsed + opts.timeout, nil // the machine may have other work meanwhile
		})
	}
	return t, nil
}

// outcome is what one package's tests said.
type outcome struct {
	verdict  string
	test     string // that failed; for a package that fails outside of one, what happened
	timedOut bool
	elapsed  time.Duration // of passing tests
}

// event is a line of `go test -json`.
type event struct {
	Action, Test, Output, FailedBuild string
	Elapsed                           float64 // seconds
}

// run runs the tests of one package, on the code as it is if overlay is "".
func (t *tester) run(ctx context.Context, pkg, overlay string, limit time.Duration) (outcome, error) {
	// Vet is off because only tests count here, and a change may well look suspicious.
	args := []string{"test", "-json", "-vet=off", "-failfast", "-timeout=" + limit.String()}
	if overlay == "" {
		args = append(args, "-count=1") // a time from the cache is no time
	}
	cmd := t.command(ctx, overlay, append(args, pkg)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := runGroup(cmd)
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if cmd.ProcessState == nil {
		return outcome{}, fmt.Errorf("go test %s: %w", pkg, err)
	}
	o := outcome{verdict: survived, test: "fails outside of a test"}
	failed := false
	for d := json.NewDecoder(&stdout); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return o, fmt.Errorf("go test -json %s: %w", pkg, err)
		}
		switch {
		case e.Action == "fail" && e.FailedBuild != "":
			o.verdict, failed = notCompiling, true
		case e.Action == "fail" && !failed:
			o.verdict, failed = caught, true
			if e.Test != "" {
				o.test = e.Test
			}
		case e.Action == "output" && timedOut(e.Output):
			o.timedOut = true
		case e.Action == "pass" && e.Test == "":
			o.elapsed = time.Duration(e.Elapsed * float64(time.Second))
		}
	}
	if failed == cmd.ProcessState.Success() {
		return o, fmt.Errorf("go test %s: %v, which is not what its events say\n%s", pkg, cmd.ProcessState, stderr.Bytes())
	}
	return o, nil
}

// timedOut recognizes what a test binary says when its time is up, and go test for one that can't say so any more.
func timedOut(output string) bool {
	return strings.HasPrefix(output, "panic: test timed out after") || strings.Contains(output, "*** Test killed")
}

// builds says whether a package without tests compiles.
func (t *tester) builds(ctx context.Context, pkg, overlay string) bool {
	return runGroup(t.command(ctx, overlay, "build", "-o", os.DevNull, pkg)) == nil
}

// command is a go command that sees the overlay. The overlay goes into GOFLAGS, so that go commands which tests
// start see it too.
func (t *tester) command(ctx context.Context, overlay string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.repo.root
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", t.procs))
	if overlay != "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOFLAGS=%s '-overlay=%s'", t.goFlag, overlay))
	}
	cmd.WaitDelay = 10 * time.Second // for a process that a test has left behind with our pipes
	return cmd
}

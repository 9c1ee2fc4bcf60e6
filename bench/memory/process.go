package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is what a program has printed and taken, in bytes.
type process struct {
	output string // both streams
	peak   int64  // the most that was resident: RSS
	// Of the largest RSS that was seen, looking every few milliseconds: memory of its own, and pages of files.
	anonymous, file int64
}

// measure runs a program to its end. The kernel counts the peak of whoever starts a program as the program's own, so
// that a peak below that of this process says nothing.
func measure(program string, args []string) (process, error) {
	var p process
	var output bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	own, err := residentParts("self")
	if err != nil {
		return p, err
	}
	if err := cmd.Start(); err != nil {
		return p, err
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.watch(cmd.Process.Pid, ended)
	}()
	err = cmd.Wait()
	close(ended)
	<-watched
	p.output = output.String()
	if err != nil {
		return p, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, p.output)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return p, errors.New("this system doesn't say what a process took")
	}
	p.peak = usage.Maxrss * 1024
	if p.peak <= own["VmHWM"] {
		return p, fmt.Errorf("%s took less than the %d bytes of this process, so its peak isn't known", program, own["VmHWM"])
	}
	return p, nil
}

// watch keeps the parts of the largest RSS until the process has ended.
func (p *process) watch(pid int, ended <-chan struct{}) {
	for most := int64(0); ; {
		if parts, err := residentParts(strconv.Itoa(pid)); err == nil && parts["VmRSS"] > most {
			most, p.anonymous, p.file = parts["VmRSS"], parts["RssAnon"], parts["RssFile"]
		}
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// residentParts are the lines of /proc/PID/status about resident memory, in bytes.
func residentParts(pid string) (map[string]int64, error) {
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return nil, err
	}
	parts := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		if number, ok := strings.CutSuffix(strings.TrimSpace(rest), " kB"); ok {
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				parts[name] = 1024 * n
			}
		}
	}
	return parts, nil
}

// total is what the memory line calls its sum: the first figure behind its name.
var total = regexp.MustCompile(`^memory: (?:.* )??([0-9]+(?:\.[0-9]+)?) MB`)

// memoryLine finds the line in what a run has printed, and its total in megabytes.
func memoryLine(output string) (line string, said float64, err error) {
	for l := range strings.Lines(output) {
		m := total.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil || strings.HasPrefix(l, "memory: scoring") {
			continue
		}
		said, err = strconv.ParseFloat(m[1], 64)
		return strings.TrimRight(l, "\n"), said, err
	}
	return "", 0, fmt.Errorf("the run has printed no memory line:\n%s", output)
}

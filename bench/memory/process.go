package main

import (
	"bufio"
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

// task is a program to run.
type task struct {
	program string
	args    []string
	group   *group                     // that it runs in; nil: that of this process
	told    func(line string, pid int) // is told each line that is printed, while the program goes on; nil: nobody
}

// process is what a program has printed and taken, in bytes.
type process struct {
	output string // both streams
	code   int    // -1: it was ended by a signal
	peak   int64  // the most that was resident: RSS
	// Of the largest RSS that was seen, looking every few milliseconds: memory of its own, and pages of files.
	anonymous, file int64
}

// run runs a program to its end, whatever that is. The kernel counts the peak of whoever starts a program as the
// program's own: see known.
func (t task) run() (process, error) {
	var p process
	cmd := exec.Command(t.program, t.args...)
	if t.group != nil {
		cmd = t.group.command(t.program, t.args)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return p, err
	}
	defer read.Close()
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Start()
	write.Close()
	if err != nil {
		return p, err
	}
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		p.watch(cmd.Process.Pid, ended)
	}()
	var output strings.Builder
	for from := bufio.NewReader(read); err == nil; {
		var line string
		line, err = from.ReadString('\n')
		output.WriteString(line)
		if t.told != nil && line != "" {
			t.told(strings.TrimSuffix(line, "\n"), cmd.Process.Pid)
		}
	}
	err = cmd.Wait()
	close(ended)
	<-watched
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return p, err
	}
	p.output, p.code = output.String(), cmd.ProcessState.ExitCode()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return p, errors.New("this system doesn't say what a process took")
	}
	p.peak = usage.Maxrss * 1024
	return p, nil
}

// must is run for a program that has to end with a code, having said some words.
func (t task) must(code int, words ...string) (process, error) {
	p, err := t.run()
	if err != nil {
		return p, err
	}
	if p.code != code {
		return p, t.failed(p, fmt.Sprintf("ended with code %d, want %d", p.code, code))
	}
	for _, w := range words {
		if !strings.Contains(p.output, w) {
			return p, t.failed(p, fmt.Sprintf("has not said %q", w))
		}
	}
	return p, nil
}

// failed is the error for what a program did.
func (t task) failed(p process, what string) error {
	return fmt.Errorf("%s %s: %s\n%s", t.program, strings.Join(t.args, " "), what, p.output)
}

// known is an error where the peak of a process is not known.
func (p process) known() error {
	own, err := residentParts("self")
	if err == nil && p.peak <= own["VmHWM"] {
		err = fmt.Errorf("it took less than the %d bytes of this process, so its peak isn't known", own["VmHWM"])
	}
	return err
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

// total and limit are two figures of the memory line.
var (
	total = regexp.MustCompile(`^memory: ([0-9.]+ (?:[kMG]B|bytes?)) in all`)
	limit = regexp.MustCompile(`under a limit of ([0-9.]+ (?:[kMG]B|bytes?)) \((.*?)\):`)
)

// memoryLine finds the line in what a run has printed, and its total in bytes.
func memoryLine(output string) (line string, said int64, err error) {
	for l := range strings.Lines(output) {
		if m := total.FindStringSubmatch(l); m != nil {
			said, err = parseBytes(m[1])
			return strings.TrimRight(l, "\n"), said, err
		}
	}
	return "", 0, fmt.Errorf("the run has printed no memory line:\n%s", output)
}

// memoryLimit is the limit that a memory line names, in bytes, and what sets it.
func memoryLimit(line string) (bytes int64, why string, err error) {
	m := limit.FindStringSubmatch(line)
	if m == nil {
		return 0, "", fmt.Errorf("no limit is named: %s", line)
	}
	bytes, err = parseBytes(m[1])
	return bytes, m[2], err
}

var part = regexp.MustCompile(`(?:([0-9]+) workers? with )?([0-9.]+ (?:[kMG]B|bytes?))`)

// partsIn is the sum of all that a memory line names, in bytes: its total is rounded.
func partsIn(line string) (sum int64, err error) {
	_, list, _ := strings.Cut(line, "): ")
	list, _, _ = strings.Cut(list, "; longest utterance")
	for _, m := range part.FindAllStringSubmatch(list, -1) {
		bytes, err := parseBytes(m[2])
		if err != nil {
			return 0, err
		}
		if m[1] != "" {
			workers, _ := strconv.ParseInt(m[1], 10, 64)
			bytes *= workers
		}
		sum += bytes
	}
	return sum, nil
}

// parseBytes reads an amount as a run prints it: 187.8 MB.
func parseBytes(text string) (int64, error) {
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(number, 64)
	scale, ok := map[string]float64{"byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
	if err != nil || !ok {
		return 0, fmt.Errorf("%q is no amount of memory", text)
	}
	return int64(n * scale), nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

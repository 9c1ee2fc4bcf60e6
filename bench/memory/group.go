package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// group is a memory control group: the kernel kills a process in it where all of them need more than its limit.
type group struct {
	dir     string
	version int
}

// groupFiles are the names of a group's files, by version.
var groupFiles = map[int]struct{ limit, swap, most, events, own string }{
	1: {"memory.limit_in_bytes", "memory.swappiness", "memory.max_usage_in_bytes", "memory.oom_control", "total_rss"},
	2: {"memory.max", "memory.swap.max", "memory.peak", "memory.events", "anon"},
}

// newGroup makes a group with a limit in bytes. None of it is swapped out.
func newGroup(bytes int64) (*group, error) {
	const root = "/sys/fs/cgroup"
	g := &group{filepath.Join(root, "memory"), 1}
	if text, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err == nil && strings.Contains(string(text), "memory") {
		g = &group{root, 2}
		// It is an error where the groups of this machine are others' business; then no limit can be set either.
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	dir, err := os.MkdirTemp(g.dir, "konkanitrain-")
	if err != nil {
		return nil, fmt.Errorf("no control group can be made, which needs Linux, root, and the memory controller: %w", err)
	}
	g.dir = dir
	files := groupFiles[g.version]
	err = g.write(files.limit, strconv.FormatInt(bytes, 10))
	if _, missing := os.Stat(filepath.Join(dir, files.swap)); missing == nil { // a kernel without swap has no such file
		err = errors.Join(err, g.write(files.swap, "0"))
	}
	if err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (g *group) write(file, text string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(text), 0)
}

// command is a program that starts in the group.
func (g *group) command(program string, args []string) *exec.Cmd {
	enter := `echo $$ > "$0" && exec "$@"`
	return exec.Command("sh", append([]string{"-c", enter, filepath.Join(g.dir, "cgroup.procs"), program}, args...)...)
}

// taken is the most bytes that all in the group had at a time, pages of files among them, and how many processes the
// kernel has killed there.
func (g *group) taken() (most int64, kills int, err error) {
	files := groupFiles[g.version]
	text, err := os.ReadFile(filepath.Join(g.dir, files.most))
	if err != nil {
		return 0, 0, err
	}
	if most, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err != nil {
		return 0, 0, err
	}
	n, err := g.count(files.events, "oom_kill")
	return most, int(n), err
}

// own is the bytes that processes in the group have themselves now: no pages of files, which the kernel can drop.
func (g *group) own() (int64, error) { return g.count("memory.stat", groupFiles[g.version].own) }

// count is the number behind a name in a file of the group.
func (g *group) count(file, name string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return strconv.ParseInt(number, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s doesn't count %s", file, name)
}

// remove removes the group, in which nothing runs any more.
func (g *group) remove() error { return os.Remove(g.dir) }

// outcome is what became of tasks in a group.
type outcome struct {
	ran   []process
	kills int   // by the kernel
	most  int64 // bytes that the group had at most, pages of files among them: these fill it up, and are dropped for others
	own   int64 // bytes that the processes had themselves at most, looking every few milliseconds
}

// String is the figures of the group.
func (o outcome) String() string {
	return fmt.Sprintf("%d killed, the group had %.1f MB at most without pages of files (%.1f MB with them)", o.kills, megabytes(o.own), megabytes(o.most))
}

// within runs tasks side by side in a new group with a limit in bytes.
func within(bytes int64, tasks ...task) (o outcome, err error) {
	g, err := newGroup(bytes)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, g.remove()) }()
	o.ran = make([]process, len(tasks))
	ended := make(chan error, len(tasks))
	for i, t := range tasks {
		t.group = g
		go func() {
			var err error
			o.ran[i], err = t.run()
			ended <- err
		}()
	}
	for left := len(tasks); left > 0; {
		select {
		case failed := <-ended:
			err = errors.Join(err, failed)
			left--
		case <-time.After(10 * time.Millisecond):
			own, failed := g.own()
			err = errors.Join(err, failed)
			o.own = max(o.own, own)
		}
	}
	if err != nil {
		return o, err
	}
	o.most, o.kills, err = g.taken()
	return o, err
}

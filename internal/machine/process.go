package machine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Process is another program, or this one, and the memory that it has.
type Process struct {
	PID     int
	UID     int      // of its user; -1: unknown
	RSS     int64    // bytes of memory it has, shared ones in full
	PSS     int64    // the same, shared ones divided among those who share; 0: not known, or not looked at
	Command []string // its command line, or its name where it has none; never empty
	Dir     string   // its working directory; "" where that can't be read
	Program string   // path of the file it runs; "" where that can't be read
}

// shared is the number of processes, the largest ones, whose PSS is looked at: the system goes through all of a
// process's memory for it.
const shared = 20

// processes lists the processes that have memory, the largest first. One that ends meanwhile, or that may not be looked
// at, is left out.
func processes(root fs.FS) ([]Process, error) {
	entries, err := fs.ReadDir(root, "proc")
	if err != nil {
		return nil, fmt.Errorf("the list of processes: %w", err)
	}
	var all []Process
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 0 {
			if p, ok := process(root, pid); ok {
				all = append(all, p)
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the list of processes: /proc names none")
	}
	slices.SortFunc(all, func(a, b Process) int { return cmp.Or(cmp.Compare(b.RSS, a.RSS), cmp.Compare(a.PID, b.PID)) })
	for i := range all[:min(shared, len(all))] {
		all[i].PSS = kilobytes(text(root, path.Join(folder(all[i].PID), "smaps_rollup")))["Pss"]
	}
	return all, nil
}

func folder(pid int) string { return path.Join("proc", strconv.Itoa(pid)) }

// process is what is known of one; false if it has no memory of its own, or is gone.
func process(root fs.FS, pid int) (Process, bool) {
	dir := folder(pid)
	status := text(root, path.Join(dir, "status"))
	p := Process{PID: pid, UID: -1, RSS: kilobytes(status)["VmRSS"]}
	if p.RSS == 0 {
		return p, false
	}
	name := "?"
	for line := range strings.Lines(status) {
		switch key, value, _ := strings.Cut(line, ":"); key {
		case "Name":
			name = strings.TrimSpace(value)
		case "Uid": // real, effective, ...
			if uid, err := strconv.ParseUint(first(value), 10, 32); err == nil {
				p.UID = int(uid)
			}
		}
	}
	if line := strings.TrimRight(text(root, path.Join(dir, "cmdline")), "\x00"); line != "" {
		p.Command = strings.Split(line, "\x00")
	} else {
		p.Command = []string{"[" + name + "]"}
	}
	p.Dir, _ = fs.ReadLink(root, path.Join(dir, "cwd"))
	p.Program, _ = fs.ReadLink(root, path.Join(dir, "exe"))
	return p, true
}

// open lists the files and folders that a process has open, by their paths. What isn't one (a pipe) is left out.
func open(root fs.FS, pid int) (paths []string) {
	dir := path.Join(folder(pid), "fd")
	entries, _ := fs.ReadDir(root, dir) // of another user's process there are none to be seen
	for _, e := range entries {
		if to, err := fs.ReadLink(root, path.Join(dir, e.Name())); err == nil && path.IsAbs(to) {
			paths = append(paths, to)
		}
	}
	return paths
}

// self is the memory of this process and the most it has been.
func self(root fs.FS) (rss, peak int64) {
	status := kilobytes(text(root, "proc/self/status"))
	return status["VmRSS"], max(status["VmHWM"], status["VmRSS"])
}

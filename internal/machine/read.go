package machine

import (
	"io/fs"
	"strconv"
	"strings"
)

// limit is one of the limits that this process has.
type limit struct {
	bytes  int64
	used   int64 // counts against it now
	source string
}

// read is what the files under root, the folder /, say.
func read(root fs.FS) Memory {
	info := kilobytes(text(root, "proc/meminfo"))
	m := Memory{Total: info["MemTotal"], Available: info["MemAvailable"]}
	limits := append(groupLimits(root), ownLimits(root)...)
	if strings.TrimSpace(text(root, "proc/sys/vm/overcommit_memory")) == "2" {
		limits = append(limits, limit{info["CommitLimit"], info["Committed_AS"], "vm.overcommit_memory (CommitLimit)"})
	}
	for _, l := range limits {
		if l.bytes <= 0 || m.Total > 0 && l.bytes >= m.Total {
			continue
		}
		if m.Limit == 0 || l.bytes-l.used < m.Limit-m.Used {
			m.Limit, m.Used, m.Source = l.bytes, l.used, l.source
		}
	}
	return m
}

// ownLimits are those that ulimit sets.
func ownLimits(root fs.FS) []limit {
	status := kilobytes(text(root, "proc/self/status"))
	var limits []limit
	for line := range strings.Lines(text(root, "proc/self/limits")) {
		for _, x := range []struct {
			name, source string
			used         int64
		}{
			{"Max address space", "ulimit -v", status["VmSize"]},
			{"Max data size", "ulimit -d", status["VmData"]},
		} {
			if rest, ok := strings.CutPrefix(line, x.name); ok {
				limits = append(limits, limit{number(first(rest)), x.used, x.source}) // "unlimited" is no number
			}
		}
	}
	return limits
}

// text is a file's content, "" if it can't be read: then nothing is known from it.
func text(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}

// kilobytes reads lines as "MemTotal: 24683652 kB", into bytes. Other lines are passed over.
func kilobytes(text string) map[string]int64 {
	found := map[string]int64{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		value, kb := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if n := number(value); ok && kb && n <= 1<<50 {
			found[name] = n << 10
		}
	}
	return found
}

// number is a count of bytes, or 0 for anything else: "max", "unlimited", a negative number.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// first is the first word of a text.
func first(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

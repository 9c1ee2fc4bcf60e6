package machine

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// version is one of the two kinds of control groups. A machine may have both; memory is counted by one of them.
type version struct {
	limits []string // files that hold a limit
	used   string   // file
	cache  string   // key of memory.stat: bytes of files that the system drops before it ends a process
}

var (
	v1 = version{limits: []string{"memory.limit_in_bytes"}, used: "memory.usage_in_bytes", cache: "total_inactive_file"}
	v2 = version{limits: []string{"memory.max", "memory.high"}, used: "memory.current", cache: "inactive_file"}
)

// groupLimits are the limits of the process's control group and of all above it.
func groupLimits(root fs.FS) []limit {
	own := ownGroups(text(root, "proc/self/cgroup"))
	var limits []limit
	all := mounts(text(root, "proc/self/mountinfo"))
	for _, v := range []*version{&v2, &v1} {
		group, ok := own[v]
		if !ok {
			continue
		}
		for _, p := range places(all, v, group) {
			limits = append(limits, v.along(root, p)...)
		}
	}
	return limits
}

// ownGroups reads /proc/self/cgroup: the group of the process by version. Its name starts where the process's
// namespace of groups does, and so may be "/" for a group that has a limit, or start with "/.." for one outside.
func ownGroups(text string) map[*version]string {
	own := map[*version]string{}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0" && parts[1] == "":
			own[&v2] = parts[2]
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			own[&v1] = parts[2]
		}
	}
	return own
}

// mount is where groups can be seen as folders.
type mount struct {
	version *version
	group   string // the one that point is; it is the root of what can be seen
	point   string
}

// mounts reads /proc/self/mountinfo.
func mounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		from, of := strings.Fields(left), strings.Fields(right)
		if !ok || len(from) < 6 || len(of) < 3 {
			continue
		}
		m := mount{group: unescape(from[3]), point: unescape(from[4])}
		all = slices.DeleteFunc(all, func(x mount) bool { return x.point == m.point }) // m hides it
		switch {
		case of[0] == "cgroup2":
			m.version = &v2
		case of[0] == "cgroup" && slices.Contains(strings.Split(of[2], ","), "memory"):
			m.version = &v1
		default:
			continue
		}
		all = append(all, m)
	}
	return all
}

// unescape reads the form in which mountinfo writes spaces, tabs, line ends and backslashes.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// place is where a group is seen: path, starting at the mount's point.
type place struct {
	mount mount
	path  []string
}

// places are where the files of a group may be. If it lies under no mount (a container that was given the mount of
// another namespace), the mounts themselves are the nearest that can be seen.
func places(all []mount, v *version, group string) []place {
	var under, other []place
	for _, m := range all {
		if m.version != v {
			continue
		}
		if below, ok := relative(m.group, group); ok {
			under = append(under, place{m, below})
		} else {
			other = append(other, place{m, nil})
		}
	}
	if len(under) > 0 {
		return under
	}
	return other
}

// relative is the way from one group down to another; false if there is none.
func relative(from, to string) ([]string, bool) {
	a, b := elements(from), elements(to)
	if len(a) > len(b) || !slices.Equal(a, b[:len(a)]) || slices.Contains(b[len(a):], "..") {
		return nil, false
	}
	return b[len(a):], true
}

// elements are the names in a path.
func elements(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" || s == "." })
}

// along reads the limits of a group and of those above it, as far as they can be seen.
func (v *version) along(root fs.FS, p place) []limit {
	var limits []limit
	for n := len(p.path); n >= 0; n-- {
		dir := path.Join(append([]string{p.mount.point}, p.path[:n]...)...)
		dir = strings.TrimPrefix(dir, "/")
		if n < len(p.path) && strings.TrimSpace(text(root, path.Join(dir, "memory.use_hierarchy"))) == "0" {
			break // version 1 could be told that a group's limits are not for those below
		}
		stat := counts(text(root, path.Join(dir, "memory.stat")))
		used := max(number(text(root, path.Join(dir, v.used)))-stat[v.cache], 0)
		name := "control group " + path.Join("/", path.Join(p.mount.group, path.Join(p.path[:n]...)))
		for _, file := range v.limits {
			limits = append(limits, limit{number(text(root, path.Join(dir, file))), used, name + " (" + file + ")"})
		}
		if n == len(p.path) && v == &v1 { // what groups above ask for that can't be seen from here
			limits = append(limits, limit{stat["hierarchical_memory_limit"], used, name + " (hierarchical_memory_limit)"})
		}
	}
	return limits
}

// counts reads lines as "inactive_file 4096".
func counts(text string) map[string]int64 {
	found := map[string]int64{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, " "); ok {
			found[name] = number(value)
		}
	}
	return found
}

package machine

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// tree is files by path.
type tree map[string]string

func (t tree) FS() fs.FS {
	files := fstest.MapFS{}
	for name, text := range t {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// with is t and more files; those of more win.
func (t tree) with(more tree) tree {
	all := tree{}
	for _, part := range []tree{t, more} {
		for name, text := range part {
			all[name] = text
		}
	}
	return all
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

// plain is a machine with 16 GiB, of which 12 GiB are available, and no limits.
var plain = tree{
	"proc/meminfo": "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:   12582912 kB\nBuffers:           18012 kB\n" +
		"HugePages_Total:       0\nCommitLimit:     8388608 kB\nCommitted_AS:    2097152 kB\n",
	"proc/self/status": "Name:\tkonkanitrain\nUid:\t1000\t1000\t1000\t1000\nVmPeak:\t 2097152 kB\nVmSize:\t 1048576 kB\nVmHWM:\t  409600 kB\n" +
		"VmRSS:\t  204800 kB\nVmData:\t  524288 kB\nThreads:\t9\n",
	"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max cpu time              unlimited            unlimited            seconds   \n" +
		"Max data size             unlimited            unlimited            bytes     \n" +
		"Max address space         unlimited            unlimited            bytes     \n",
	"proc/sys/vm/overcommit_memory": "0\n",
}

const (
	v2Mount = "30 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
	v1Mount = "36 32 0:31 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:16 - cgroup cgroup rw,memory\n"
	noLimit = "9223372036854771712\n"
)

// dockerV1 is a container of version 1, whose mounts show its own groups only, but whose paths are the machine's.
var dockerV1 = plain.with(tree{
	"proc/self/cgroup": "12:pids:/docker/3f2a\n6:memory:/docker/3f2a\n1:name=systemd:/docker/3f2a\n",
	"proc/self/mountinfo": "719 718 0:29 /docker/3f2a /sys/fs/cgroup/pids ro,nosuid,nodev - cgroup cgroup rw,pids\n" +
		"721 718 0:31 /docker/3f2a /sys/fs/cgroup/memory ro,nosuid,nodev - cgroup cgroup rw,memory\n",
	"sys/fs/cgroup/memory/memory.limit_in_bytes": "2147483648\n",
	"sys/fs/cgroup/memory/memory.usage_in_bytes": "1073741824\n",
	"sys/fs/cgroup/memory/memory.use_hierarchy":  "1\n",
	"sys/fs/cgroup/memory/memory.stat":           "cache 536870912\nhierarchical_memory_limit 2147483648\ntotal_inactive_file 268435456\n",
})

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		files       tree
		limit, used int64
		source      string
	}{
		"no limit": {plain, 0, 0, ""},
		"version 2, no limit": {plain.with(tree{
			"proc/self/cgroup":                        "0::/user.slice/user-1000.slice/session-2.scope\n",
			"proc/self/mountinfo":                     v2Mount,
			"sys/fs/cgroup/user.slice/memory.max":     "max\n",
			"sys/fs/cgroup/user.slice/memory.current": "3221225472\n",
			"sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope/memory.max": "max\n",
		}), 0, 0, ""},
		"docker, version 2": {plain.with(tree{
			"proc/self/cgroup":             "0::/\n",
			"proc/self/mountinfo":          "540 530 0:26 / /sys/fs/cgroup ro,nosuid,nodev - cgroup2 cgroup rw,nsdelegate\n",
			"sys/fs/cgroup/memory.max":     "4294967296\n",
			"sys/fs/cgroup/memory.high":    "max\n",
			"sys/fs/cgroup/memory.current": "1610612736\n",
			"sys/fs/cgroup/memory.stat":    "anon 536870912\nfile 1073741824\ninactive_anon 0\ninactive_file 536870912\n",
		}), 4 * gib, 1 * gib, "control group / (memory.max)"},
		"docker, version 1": {dockerV1, 2 * gib, 768 * mib, "control group /docker/3f2a (memory.limit_in_bytes)"},
		"docker, version 1, a group above has less": {dockerV1.with(tree{
			"sys/fs/cgroup/memory/memory.limit_in_bytes": noLimit,
			"sys/fs/cgroup/memory/memory.stat":           "hierarchical_memory_limit 1073741824\ntotal_inactive_file 0\n",
		}), gib, gib, "control group /docker/3f2a (hierarchical_memory_limit)"},
		"a slice above has the limit": {plain.with(tree{
			"proc/self/cgroup":                                                       "0::/batch.slice/batch-train.slice/run-7.scope\n",
			"proc/self/mountinfo":                                                    v2Mount,
			"sys/fs/cgroup/batch.slice/memory.max":                                   "8589934592\n",
			"sys/fs/cgroup/batch.slice/memory.current":                               "6442450944\n",
			"sys/fs/cgroup/batch.slice/batch-train.slice/memory.max":                 "max\n",
			"sys/fs/cgroup/batch.slice/batch-train.slice/run-7.scope/memory.max":     "6442450944\n",
			"sys/fs/cgroup/batch.slice/batch-train.slice/run-7.scope/memory.current": "1073741824\n",
		}), 8 * gib, 6 * gib, "control group /batch.slice (memory.max)"}, // 2 GiB of room, where its own has 5
		"memory.high is lower": {plain.with(tree{
			"proc/self/cgroup":                        "0::/train.service\n",
			"proc/self/mountinfo":                     v2Mount,
			"sys/fs/cgroup/train.service/memory.max":  "8589934592\n",
			"sys/fs/cgroup/train.service/memory.high": "6442450944\n",
		}), 6 * gib, 0, "control group /train.service (memory.high)"},
		"kubernetes, seen from the machine": {plain.with(tree{
			"proc/self/cgroup":                        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-pod9.slice/cri-containerd-ab.scope\n",
			"proc/self/mountinfo":                     v2Mount,
			"sys/fs/cgroup/kubepods.slice/memory.max": "15032385536\n",
			"sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/memory.max":                                          "max\n",
			"sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-pod9.slice/memory.max":                      "3221225472\n",
			"sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-pod9.slice/cri-containerd-ab.scope/cpu.max": "max\n",
		}), 3 * gib, 0, "control group /kubepods.slice/kubepods-burstable.slice/kubepods-pod9.slice (memory.max)"},
		"kubernetes, version 1, from inside": {plain.with(tree{
			"proc/self/cgroup": "5:cpu,cpuacct:/kubepods/burstable/pod9/ab\n4:memory,hugetlb:/kubepods/burstable/pod9/ab\n",
			"proc/self/mountinfo": "1 2 0:5 /kubepods/burstable/pod9/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory,hugetlb\n" +
				"3 2 0:6 /kubepods/burstable/pod9/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":      "1073741824",
			"sys/fs/cgroup/cpu,cpuacct/memory.limit_in_bytes": "1",
		}), gib, 0, "control group /kubepods/burstable/pod9/ab (memory.limit_in_bytes)"},
		"hybrid: version 1 counts memory": {plain.with(tree{
			"proc/self/cgroup":    "9:name=systemd:/\n4:memory:/jobs/17\n1:cpu:/\n0::/\n",
			"proc/self/mountinfo": strings.Replace(v1Mount, "36 32", "35 32", 1) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":    noLimit,
			"sys/fs/cgroup/memory/jobs/17/memory.limit_in_bytes": "3221225472\n",
			"sys/fs/cgroup/memory/jobs/17/memory.usage_in_bytes": "1048576\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":         noLimit,
			"sys/fs/cgroup/unified/cgroup.controllers":           "\n",
		}), 3 * gib, mib, "control group /jobs/17 (memory.limit_in_bytes)"},
		"version 1 without hierarchy": {plain.with(tree{
			"proc/self/cgroup":                                   "4:memory:/jobs/17\n",
			"proc/self/mountinfo":                                v1Mount,
			"sys/fs/cgroup/memory/jobs/memory.use_hierarchy":     "0\n",
			"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":    "1048576\n",
			"sys/fs/cgroup/memory/jobs/17/memory.limit_in_bytes": "3221225472\n",
		}), 3 * gib, 0, "control group /jobs/17 (memory.limit_in_bytes)"},
		"the mount starts above the namespace": {plain.with(tree{
			"proc/self/cgroup":                      "0::/\n",
			"proc/self/mountinfo":                   "540 530 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/memory.max":              "5368709120\n",
			"sys/fs/cgroup/system.slice/memory.max": "1\n", // not known to be ours
		}), 5 * gib, 0, "control group / (memory.max)"},
		"the group is outside of the namespace": {plain.with(tree{
			"proc/self/cgroup":           "0::/../other\n",
			"proc/self/mountinfo":        "540 530 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/memory.max":   "5368709120\n",
			"sys/fs/other/memory.max":    "1\n",
			"sys/fs/cgroup/../memory.hi": "1\n",
		}), 5 * gib, 0, "control group / (memory.max)"},
		"the group beside the namespace is seen": {plain.with(tree{
			"proc/self/cgroup":               "0::/../other\n",
			"proc/self/mountinfo":            "540 530 0:26 /.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/other/memory.max": "2147483648\n",
		}), 2 * gib, 0, "control group /other (memory.max)"},
		"two mounts, the later one hides the first": {plain.with(tree{
			"proc/self/cgroup":           "0::/a\n",
			"proc/self/mountinfo":        v2Mount + "77 30 0:99 / /sys/fs/cgroup rw - tmpfs none rw\n78 1 0:26 / /mnt/my\\040groups rw - cgroup2 none rw\n",
			"sys/fs/cgroup/a/memory.max": "1048576\n",
			"mnt/my groups/a/memory.max": "3221225472\n",
		}), 3 * gib, 0, "control group /a (memory.max)"},
		"the group is gone": {plain.with(tree{
			"proc/self/cgroup":           "0::/a/b (deleted)\n",
			"proc/self/mountinfo":        v2Mount,
			"sys/fs/cgroup/a/memory.max": "3221225472\n",
		}), 3 * gib, 0, "control group /a (memory.max)"},
		"as much as the machine has is no limit": {plain.with(tree{
			"proc/self/cgroup":         "0::/\n",
			"proc/self/mountinfo":      v2Mount,
			"sys/fs/cgroup/memory.max": "17179869184\n",
		}), 0, 0, ""},
		"ulimit -v": {plain.with(tree{
			"proc/self/limits": "Max data size             unlimited            unlimited            bytes     \n" +
				"Max address space         4294967296           unlimited            bytes     \n",
		}), 4 * gib, gib, "ulimit -v"},
		"ulimit -d has less room": {plain.with(tree{
			"proc/self/limits": "Max data size             1073741824           unlimited            bytes     \n" +
				"Max address space         4294967296           4294967296           bytes     \n",
		}), gib, 512 * mib, "ulimit -d"},
		"a system that promises no more than it has": {plain.with(tree{"proc/sys/vm/overcommit_memory": "2\n"}),
			8 * gib, 2 * gib, "vm.overcommit_memory (CommitLimit)"},
		"garbage": {plain.with(tree{
			"proc/self/cgroup":           "0::\n::\n\n0\n0::/a:b\nmemory:::\n-1:memory\n4:memory:relative/../x\n",
			"proc/self/mountinfo":        v2Mount + " - \n1 2 3 - cgroup2 x y\n1 2 3 / .. rw - cgroup2 x y\n" + strings.Repeat("x", 1000) + "\n",
			"proc/self/limits":           "Max address space\nMax data size -5 \xff\nMax address space 99999999999999999999 1 bytes\n",
			"sys/fs/cgroup/memory.max":   "-1\n",
			"sys/fs/cgroup/memory.high":  "0\n",
			"sys/fs/cgroup/a/memory.max": "1\n",
		}), 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := read(c.files.FS())
			if want := (Memory{16 * gib, 12 * gib, c.limit, c.source, c.used}); m != want {
				t.Errorf("got %+v\nwant %+v", m, want)
			}
		})
	}
	if m := read(tree{}.FS()); m != (Memory{}) {
		t.Errorf("of nothing: %+v", m)
	}
	if m := read(tree{"proc/self/limits": "Max address space 99999999999999999999 1 bytes\n"}.FS()); m != (Memory{}) {
		t.Errorf("of a number that is none: %+v", m)
	}
	if m := read(tree{"proc/meminfo": "MemTotal: 1 kB\nMemAvailable: many kB\nX\nMemTotal: 99999999999999999 kB\n"}.FS()); m != (Memory{Total: 1024}) {
		t.Errorf("of garbage: %+v", m)
	}
}

func TestSelf(t *testing.T) {
	if rss, peak := self(plain.FS()); rss != 200*mib || peak != 400*mib {
		t.Errorf("%d, %d", rss, peak)
	}
	if rss, peak := self(tree{}.FS()); rss != 0 || peak != 0 {
		t.Errorf("of nothing: %d, %d", rss, peak)
	}
}

// Whatever the files hold, what is read makes sense.
func FuzzRead(f *testing.F) {
	for _, t := range []tree{plain, dockerV1} {
		f.Add(t["proc/meminfo"], t["proc/self/cgroup"], t["proc/self/mountinfo"], t["proc/self/limits"], t["proc/self/status"], "1048576\n", "inactive_file 4096\n")
	}
	f.Add("MemTotal: 10 kB", "0::/a\n4:memory:/a", v1Mount+v2Mount, "", "VmRSS: 9007199254740992 kB", "max", "hierarchical_memory_limit 9")
	f.Fuzz(func(t *testing.T, meminfo, cgroup, mountinfo, limits, status, max, stat string) {
		root := tree{
			"proc/meminfo": meminfo, "proc/self/cgroup": cgroup, "proc/self/mountinfo": mountinfo, "proc/self/limits": limits,
			"proc/self/status": status, "proc/sys/vm/overcommit_memory": "2",
			"sys/fs/cgroup/a/memory.max": max, "sys/fs/cgroup/memory.stat": stat, "sys/fs/cgroup/memory.current": max,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": max, "sys/fs/cgroup/memory/memory.stat": stat,
		}.FS()
		m := read(root)
		if m.Total < 0 || m.Available < 0 || m.Limit < 0 || m.Used < 0 || m.Total > 0 && m.Limit >= m.Total {
			t.Errorf("%+v", m)
		}
		if (m.Limit == 0) != (m.Source == "") || m.Limit == 0 && m.Used > 0 {
			t.Errorf("a limit without a source, or the other way round: %+v", m)
		}
		rss, peak := self(root)
		if rss < 0 || peak < rss {
			t.Errorf("rss %d, peak %d", rss, peak)
		}
		checkAuto(t, m, rss)
	})
}

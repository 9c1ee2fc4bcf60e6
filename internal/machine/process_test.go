package machine

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// vanishing is a file system from which a folder goes away once it is listed.
type vanishing struct {
	fstest.MapFS
	gone string
}

func (v vanishing) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, v.gone) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Open(name)
}

func (v vanishing) ReadFile(name string) ([]byte, error) {
	if strings.HasPrefix(name, v.gone) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("no such process")}
	}
	return v.MapFS.ReadFile(name)
}

func TestProcessesOf(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }
	root := vanishing{fstest.MapFS{
		"proc/meminfo":         file("MemTotal: 10 kB\n"),
		"proc/1/status":        file("Name:\tsystemd\nUid:\t0\t0\t0\t0\nVmRSS:\t   100 kB\n"),
		"proc/1/cmdline":       file("/sbin/init\x00"),
		"proc/2/status":        file("Name:\tkthreadd\nUid:\t0\t0\t0\t0\n"), // of the kernel: no memory
		"proc/2/cmdline":       file(""),
		"proc/30/status":       file("Name:\tkonkanitrain\nUid:\t1000\t1001\t1000\t1000\nVmRSS:\t   3000 kB\n"),
		"proc/30/cmdline":      file("./konkanitrain\x00train\x00--checkpoint_dir\x00runs/a b\x00"),
		"proc/30/smaps_rollup": file("55d0-7ffd ---p 00000000 00:00 0    [rollup]\nRss:    3000 kB\nPss:    2500 kB\nPss_Anon: 1 kB\n"),
		"proc/30/cwd":          link("/home/me"),
		"proc/30/exe":          link("/home/me/konkanitrain"),
		"proc/30/fd/4":         link("/home/me/runs/a b"),
		"proc/30/fd/5":         link("pipe:[123]"),
		"proc/30/fd/7":         link("/dev/null"),
		"proc/31/status":       file("Name:\tsystemd-x\nUid:\tnobody\nVmRSS:\t   100 kB\n"),
		"proc/32/status":       file("VmRSS:\t   7000 kB\n"),
		"proc/33/status":       file("\xff\xfe garbage: kB\nVmRSS: -1 kB\n"),
		"proc/-4/status":       file("VmRSS:\t   7000 kB\n"),
		"proc/self":            link("30"),
	}, "proc/32"}
	all, err := processes(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []Process{
		{30, 1000, 3000 << 10, 2500 << 10, []string{"./konkanitrain", "train", "--checkpoint_dir", "runs/a b"}, "/home/me", "/home/me/konkanitrain"},
		{1, 0, 100 << 10, 0, []string{"/sbin/init"}, "", ""},
		{31, -1, 100 << 10, 0, []string{"[systemd-x]"}, "", ""},
	}
	if !slices.EqualFunc(all, want, func(a, b Process) bool {
		same := slices.Equal(a.Command, b.Command)
		a.Command, b.Command = nil, nil
		return same && a.PID == b.PID && a.UID == b.UID && a.RSS == b.RSS && a.PSS == b.PSS && a.Dir == b.Dir && a.Program == b.Program
	}) {
		t.Errorf("got  %+v\nwant %+v", all, want)
	}
	if got := open(root, 30); !slices.Equal(got, []string{"/home/me/runs/a b", "/dev/null"}) {
		t.Errorf("open: %q", got)
	}
	if got := open(root, 1); got != nil {
		t.Errorf("open: %q", got)
	}
	if _, err := processes(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without /proc: %v", err)
	}
	if _, err := processes(fstest.MapFS{"proc/meminfo": file("")}); err == nil || !strings.Contains(err.Error(), "names none") {
		t.Errorf("with an empty /proc: %v", err)
	}
}

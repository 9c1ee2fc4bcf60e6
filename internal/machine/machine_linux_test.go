package machine

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The machine that the tests run on is one that makes sense.
func TestHere(t *testing.T) {
	m := Read()
	rss, peak := Self()
	if m.Total < 64*mib || m.Available <= 0 || m.Available > m.Total || rss < mib || peak < rss || rss > m.Total {
		t.Errorf("%+v, %d and %d bytes of it ours", m, rss, peak)
	}
	if bytes, why := m.Auto(rss); bytes <= 0 {
		t.Errorf("nothing may be planned with: %s", why)
	}
}

// What this process has more is seen, and forgotten when the peak is reset.
func TestPeakHere(t *testing.T) {
	if err := ResetPeak(); err != nil {
		t.Fatal(err)
	}
	_, before := Self()
	const more = 64 * mib
	mem := bytes.Repeat([]byte{1}, more)
	rss, peak := Self()
	if rss < before+more*3/4 || peak < rss { // Go's own heap may shrink by a few MiB meanwhile
		t.Errorf("%d bytes, peak %d, after %d and %d more", rss, peak, before, more)
	}
	runtime.KeepAlive(mem)
}

// This process and its child are listed, the largest first.
func TestProcessesHere(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	all, err := Processes()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(all, func(a, b Process) int { return int(b.RSS - a.RSS) }) {
		t.Error("not the largest first")
	}
	find := func(pid int) Process {
		i := slices.IndexFunc(all, func(p Process) bool { return p.PID == pid })
		if i < 0 {
			t.Fatalf("process %d is not listed", pid)
		}
		return all[i]
	}
	me := find(os.Getpid())
	dir, _ := os.Getwd()
	program, _ := os.Executable()
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if open := Open(os.Getpid()); !slices.Contains(open, folder.Name()) {
		t.Errorf("%s is not among the open files %q", folder.Name(), open)
	}
	if me.UID != os.Getuid() || !slices.Equal(me.Command, os.Args) || me.Dir != dir || me.Program != program || me.RSS < mib {
		t.Errorf("%+v", me)
	}
	if c := find(child.Process.Pid); !slices.Equal(c.Command, child.Args) {
		t.Errorf("%+v", c)
	}
}

// A limit that a shell sets is found by the program in it.
func TestUlimitHere(t *testing.T) {
	if os.Getenv("MACHINE_TEST_LIMIT") != "" {
		m := Read()
		os.Stdout.WriteString(m.Source + "\n")
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `ulimit -v 8388608 && exec "$0" -test.run '^TestUlimitHere$'`, program)
	cmd.Env = append(os.Environ(), "MACHINE_TEST_LIMIT=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	m := Read()
	if smaller := m.Limit > 0 && m.Limit-m.Used < 8*gib || m.Total <= 8*gib; !smaller && !strings.HasPrefix(string(out), "ulimit -v\n") {
		t.Errorf("with ulimit -v of 8 GiB: %s", out)
	}
}

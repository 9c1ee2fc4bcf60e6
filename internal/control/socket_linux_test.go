package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"konkanitrain/internal/testkit"
)

// kill is the end of a run that cleans nothing up.
func kill(t *testing.T, s *Server) {
	t.Helper()
	made := s.socket.made
	s.socket.made = stat(t, ".") // so that it takes the socket for another's
	if err := s.Close(); err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
		t.Error(err)
	}
	s.socket.made = made
}

// The socket of a run that was killed is nobody's, and the next run replaces it; that of a run in progress stays.
func TestStaleSocket(t *testing.T) {
	dir := t.TempDir()
	f := begin(t, dir)
	kill(t, f.Server)
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("the folder has %v", names)
	}
	nobody(t, dir)
	second := begin(t, dir)
	ask(t, dir, Request{Ask: AskInfo})
	_, err := Listen(dir, func() Info { return Info{} })
	testkit.MustFail(t, err, "another run answers there")
	ask(t, dir, Request{Ask: AskInfo})
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("%v stay in the folder", names)
	}
	other := filepath.Join(dir, "file")
	if err := os.WriteFile(other, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Listen(filepath.Join(other, "none"), func() Info { return Info{} })
	testkit.MustFail(t, err, "no control socket in", "not a directory")
}

// A socket's path has a limit; checkpoint_dir has none. A folder that is moved takes its run along, one that is removed
// is no harm.
func TestLongAndMovedAndRemoved(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 200), strings.Repeat("e", 200))
	if err := os.MkdirAll(long, 0o777); err != nil {
		t.Fatal(err)
	}
	f := begin(t, long)
	ask(t, long, Request{Ask: AskInfo})
	moved := filepath.Join(filepath.Dir(long), "moved")
	if err := os.Rename(long, moved); err != nil {
		t.Fatal(err)
	}
	ask(t, moved, Request{Ask: AskInfo})
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if names := files(t, moved); len(names) > 0 {
		t.Errorf("%v stay in the folder", names)
	}
	f = begin(t, moved)
	if err := os.RemoveAll(moved); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A run removes its own socket only: the folder may be another run's by now.
func TestAnothersSocketStays(t *testing.T) {
	dir := t.TempDir()
	first := begin(t, dir)
	if err := os.Remove(filepath.Join(dir, socketFile)); err != nil {
		t.Fatal(err)
	}
	begin(t, dir)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	ask(t, dir, Request{Ask: AskInfo})
}

// Where the folder can't hold a socket, it says where one is; nothing stays behind, also of a run that was killed.
func TestPrivateFolder(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, socketFile+".new", "full"), 0o777); err != nil { // no socket can be made here
		t.Fatal(err)
	}
	killed := begin(t, dir)
	if names := files(t, temporary); len(names) != 1 || stat(t, filepath.Join(temporary, names[0])).Mode().Perm() != 0o700 {
		t.Errorf("%v", names)
	}
	ask(t, dir, Request{Ask: AskInfo})
	pointer, err := os.ReadFile(filepath.Join(dir, pointerFile))
	if err != nil {
		t.Fatal(err)
	}
	kill(t, killed.Server)
	if err := os.WriteFile(filepath.Join(dir, pointerFile), pointer, 0o666); err != nil {
		t.Fatal(err)
	}
	nobody(t, dir)
	f := begin(t, dir)
	ask(t, dir, Request{Ask: AskInfo})
	if names := files(t, temporary); len(names) != 1 {
		t.Errorf("%v in the folder for temporary files", names)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if here, there := files(t, dir), files(t, temporary); len(here) != 1 || len(there) > 0 {
		t.Errorf("%v and %v stay", here, there)
	}
	nobody(t, dir)
	for _, text := range []string{"x", "{}", `{"socket":"relative/control.sock"}`, `{"socket":"/run/other.sock"}`} {
		if err := os.WriteFile(filepath.Join(dir, pointerFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Ask(t.Context(), dir, Request{Ask: AskInfo})
		testkit.MustFail(t, err, "control.json is not what a run writes there")
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	_, err = Listen(dir, func() Info { return Info{} })
	testkit.MustFail(t, err, "no control socket in", "nor is there one in the folder for temporary files")
}

// A run that doesn't answer is named.
func TestStoppedRun(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, socketFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = Ask(ctx, dir, Request{Ask: AskInfo})
	testkit.MustFail(t, err, fmt.Sprintf("(process %d) doesn't answer", os.Getpid()), fmt.Sprintf("kill -CONT %d", os.Getpid()))
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	if _, err = Ask(ctx, dir, Request{Ask: AskInfo}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Another user can't reach the socket, and isn't answered where it can. Root is.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := begin(t, dir)
	_, err := askAs(65534, dir)
	testkit.MustFail(t, err, "can't be asked", "permission denied")
	if err := os.Chmod(filepath.Join(dir, socketFile), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = askAs(65534, dir)
	testkit.MustFail(t, err, "the run says: this run belongs to user 0 and answers to nobody else, so not to user 65534")
	if r, err := askAs(0, dir); err != nil || !r.Done {
		t.Errorf("root: %+v, %v", r, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// The run's own user and root are answered, whoever the run's user is.
func TestAllowedUser(t *testing.T) {
	for _, c := range []struct {
		uid, own int
		want     bool
	}{{0, 0, true}, {1000, 0, false}, {0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}} {
		if err := allowedUser(c.uid, c.own); (err == nil) != c.want {
			t.Errorf("user %d asks a run of user %d: %v", c.uid, c.own, err)
		}
	}
}

// askAs asks as another user. Only one thread becomes that user, and it ends afterwards.
func askAs(uid int, dir string) (r *Response, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: so the thread ends with the goroutine
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			err = e
			return
		}
		r, err = Ask(context.Background(), dir, Request{Ask: AskInfo})
	}()
	<-done
	return r, err
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"konkanitrain/internal/testkit"
)

// fake is a run that counts.
type fake struct {
	*Server
	allocated atomic.Int64
	stop      chan struct{}
	stopped   chan struct{}
}

// begin lets a fake run listen in dir. It is busy until work.
func begin(t *testing.T, dir string) *fake {
	t.Helper()
	f := &fake{stop: make(chan struct{}), stopped: make(chan struct{})}
	f.allocated.Store(100)
	s, err := Listen(dir, func() Info {
		return Info{PID: os.Getpid(), Allocated: f.allocated.Load(), Holders: []Holder{{"weights", 60}, {"moments", 40}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Server = s
	t.Cleanup(func() {
		select {
		case <-f.stopped:
		default:
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return f
}

// work lets it make updates and carry out what it is asked for, until end.
func (f *fake) work() {
	go func() {
		defer close(f.stopped)
		for {
			select {
			case <-f.stop:
				return
			case <-time.After(time.Millisecond): // an update
			}
			f.Serve(f.do)
		}
	}()
}

func (f *fake) do(r Request) (string, error) {
	switch r.Ask {
	case AskClear:
		f.allocated.Add(-10)
		return "10 bytes less", nil
	case AskFraction:
		return fmt.Sprintf("%g of it", r.Fraction), nil
	}
	return "", errors.New("not now")
}

func (f *fake) end(t *testing.T) {
	t.Helper()
	close(f.stop)
	<-f.stopped
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func ask(t *testing.T, dir string, r Request) *Response {
	t.Helper()
	response, err := Ask(t.Context(), dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// nobody wants no run to be found in dir.
func nobody(t *testing.T, dir string) {
	t.Helper()
	if r, err := Ask(t.Context(), dir, Request{Ask: AskInfo}); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%+v, %v", r, err)
	}
}

// files are the names in a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Requests for figures are answered while the run is busy, the others when it carries them out.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	nobody(t, dir)
	if Listens(dir) {
		t.Error("nobody listens, and there are files of it")
	}
	f := begin(t, dir)
	if !Listens(dir) {
		t.Error("no files of a run that listens")
	}
	if mode := stat(t, filepath.Join(dir, socketFile)).Mode(); mode.Perm() != 0o600 || mode.Type() != fs.ModeSocket {
		t.Errorf("the socket has mode %v", mode)
	}
	if r := ask(t, dir, Request{Ask: AskInfo}); !r.Done || r.Waiting != 0 || r.Before != nil || r.Info.Allocated != 100 || r.Info.PID != os.Getpid() || len(r.Info.Holders) != 2 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, dir, Request{Ask: AskClear, Wait: 0.01}); r.Done || r.Waiting != 1 || !strings.Contains(r.Note, "it is asked, and does this after it") || r.Info.Allocated != 100 {
		t.Errorf("%+v", r)
	}
	f.work() // what is still asked for first
	if r := ask(t, dir, Request{Ask: AskClear, Wait: 30}); !r.Done || r.Note != "10 bytes less" || r.Before.Allocated != 90 || r.Info.Allocated != 80 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, dir, Request{Ask: AskFraction, Fraction: 0.25, Wait: 30}); !r.Done || r.Note != "0.25 of it" || r.Before.Allocated != 80 {
		t.Errorf("%+v", r)
	}
	_, err := Ask(t.Context(), dir, Request{Ask: AskReset, Wait: 30})
	testkit.MustFail(t, err, "the run says: not now")
	_, err = Ask(t.Context(), dir, Request{Ask: "stop"})
	testkit.MustFail(t, err, `the run says: "stop" is unknown to this run`)
	f.end(t)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	nobody(t, dir)
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("%v stay in the folder", names)
	}
}

// Who waits when the run ends is told so.
func TestEndOfTheRun(t *testing.T) {
	dir := t.TempDir()
	f := begin(t, dir)
	answer := make(chan error)
	go func() {
		_, err := Ask(context.Background(), dir, Request{Ask: AskClear, Wait: 60})
		answer <- err
	}()
	for len(f.orders) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	testkit.MustFail(t, <-answer, "the run says: the run ends")
	_, err := Ask(t.Context(), filepath.Join(dir, "none"), Request{Ask: AskInfo})
	if !errors.Is(err, ErrNoRun) {
		t.Error(err)
	}
	testkit.MustFail(t, err, "there is no folder "+dir)
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Ask(t.Context(), filepath.Join(dir, "file"), Request{Ask: AskInfo})
	testkit.MustFail(t, err, "can't be asked")
}

// raw sends text on a connection of its own and returns the response's error.
func raw(t *testing.T, dir, text string) string {
	t.Helper()
	c, err := dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Write([]byte(text)) // the run may have answered before all of it
	_ = c.(*net.UnixConn).CloseWrite()
	line, err := readLine(c, mostResponse)
	if err != nil {
		t.Fatal(err)
	}
	var r Response
	if err := json.Unmarshal(line, &r); err != nil || r.Version != Version {
		t.Errorf("%s: %v", line, err)
	}
	return r.Error
}

func TestBadRequests(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir)
	for text, want := range map[string]string{
		"\n":                                "no JSON object",
		"":                                  "the request: unexpected EOF",
		`{"version":1,"ask":"info"}`:        "the request: unexpected EOF", // no line end: it may be half of one
		strings.Repeat("x", 1<<20):          "the request: a line of more than 4096 bytes",
		"\xff\x00\n":                        "no JSON object",
		`{"version":3,"ask":"info"}` + "\n": "not of version 1",
	} {
		if got := raw(t, dir, text); !strings.Contains(got, want) {
			t.Errorf("%.40q: %q, want %q in it", text, got, want)
		}
	}
}

// A client that says nothing, and one that doesn't listen, keep neither others nor the run's end waiting.
func TestClientsThatHang(t *testing.T) {
	dir := t.TempDir()
	f := begin(t, dir)
	for range 10 {
		c, err := dial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	deaf, err := dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	fmt.Fprintf(deaf, `{"version":1,"ask":"clear","wait":60}`+"\n")
	ask(t, dir, Request{Ask: AskInfo})
	before := time.Now()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(before); took > patience/2 {
		t.Errorf("the end took %v", took)
	}
}

// More clients than are served at a time are turned away; the run goes on answering.
func TestTooMany(t *testing.T) {
	dir := t.TempDir()
	f := begin(t, dir)
	var all []net.Conn
	for range mostClients {
		c, err := dial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	_, err := Ask(t.Context(), dir, Request{Ask: AskInfo})
	testkit.MustFail(t, err, "has too many clients")
	for _, c := range all {
		c.Close()
	}
	for {
		f.mu.Lock()
		left := len(f.clients)
		f.mu.Unlock()
		if left == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for range mostOrders {
		if r := ask(t, dir, Request{Ask: AskReset}); r.Done {
			t.Errorf("%+v", r)
		}
	}
	_, err = Ask(t.Context(), dir, Request{Ask: AskReset})
	testkit.MustFail(t, err, "16 requests wait for this run already")
	ask(t, dir, Request{Ask: AskInfo})
}

// Clients at the same time get what is theirs.
func TestConcurrentClients(t *testing.T) {
	dir := t.TempDir()
	f := begin(t, dir)
	f.work()
	var wait sync.WaitGroup
	for i := range mostOrders {
		wait.Go(func() {
			fraction := float64(i+1) / mostOrders
			r, err := Ask(context.Background(), dir, Request{Ask: AskFraction, Fraction: fraction, Wait: 60})
			if err != nil || !r.Done || r.Note != fmt.Sprintf("%g of it", fraction) {
				t.Errorf("%g: %+v, %v", fraction, r, err)
			}
			if r, err := Ask(context.Background(), dir, Request{Ask: AskInfo}); err != nil || r.Info.Allocated != 100 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wait.Wait()
	f.end(t)
}

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

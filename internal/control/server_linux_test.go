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
	"strings"
	"sync"
	"sync/atomic"
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

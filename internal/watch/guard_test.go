package watch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"konkanitrain/internal/control"
	"konkanitrain/internal/testkit"
)

// statusOf sends a request as it is and says what the status is.
func statusOf(t *testing.T, s *Server, request string) string {
	t.Helper()
	line, _, _ := strings.Cut(raw(t, s, request), "\r\n")
	return strings.TrimPrefix(line, "HTTP/1.1 ")
}

// No path but the page's own is served, however it is written: none is ever looked up on disk.
func TestHostilePaths(t *testing.T) {
	dir := aRun(t, 20)
	secret := "konkani-secret"
	write(t, dir, "secret.txt", secret)
	if err := os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, sourceOf(dir, nil))
	for _, path := range []string{
		"/secret.txt", "/link", "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "//secret.txt", "/./secret.txt", "/metrics.jsonl", "/memory.json",
		"/validations.jsonl", "/state/../secret.txt", "/sound/../../etc/passwd", "/sound?utterance=../../secret.txt", "/sound?utterance=/etc/passwd",
		"/sound?utterance=-1", "/sound?utterance=99999999999999999999", "/sound?utterance=0&run=-1", "/sound?run=1&utterance=0", "/sound?update=7&utterance=0",
		"/sound", "/sound?utterance=", "/sound/0", "/\x00", "/%00", "/" + dir + "/secret.txt", "/state%2f..%2fsecret.txt", "/..\\secret.txt", "/State", "/state/", "/debug/pprof/", "*",
	} {
		answer := raw(t, s, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path))
		line, _, _ := strings.Cut(answer, "\r\n")
		if !strings.HasPrefix(line, "HTTP/1.1 4") || strings.Contains(answer, secret) || strings.Contains(answer, "root:") {
			t.Errorf("%q: %.300s", path, answer)
		}
	}
}

func TestOnlyReading(t *testing.T) {
	s := serve(t, sourceOf(aRun(t, 20), nil))
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                               "200 OK",
		"HEAD /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                         "200 OK",
		"POST /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\nxx":                                  "405 Method Not Allowed",
		"DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                            "405 Method Not Allowed",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                           "405 Method Not Allowed",
		"TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                             "405 Method Not Allowed",
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n":                                       "405 Method Not Allowed",
		"GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1000000000\r\n\r\n":                            "413 Request Entity Too Large",
		"GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n":         "413 Request Entity Too Large",
		"GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n":                 "431 Request Header Fields Too Large",
		"GET /state?points=" + strings.Repeat("1", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                "431 Request Header Fields Too Large",
		"GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n\r\n": "403 Forbidden",
		"GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n\r\n":   "200 OK",
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n":     "200 OK",
		"GET /state?points=0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                 "400 Bad Request",
		"GET /state?points=1000000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                           "400 Bad Request",
		"GET /state?from=x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                                   "400 Bad Request",
		"GET /state?from=7&to=6 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":                                              "400 Bad Request",
		"nonsense\r\n\r\n": "400 Bad Request",
	} {
		if got := statusOf(t, s, request); got != want {
			t.Errorf("%.60q: %s, want %s", request, got, want)
		}
	}
	// Other sites' pages can't read what is sent, nor show it in a frame.
	_, _, head := get(t, s, "/")
	if head.Get("Access-Control-Allow-Origin") != "" || head.Get("X-Frame-Options") != "DENY" || !strings.Contains(head.Get("Content-Security-Policy"), "default-src 'none'") ||
		strings.Contains(head.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("%v", head)
	}
}

// A name that leads here by another's doing is refused (DNS rebinding).
func TestNames(t *testing.T) {
	s := serve(t, sourceOf(aRun(t, 20), nil))
	s.listener.hosts = append(s.listener.hosts, "trainer.lan")
	for host, known := range map[string]bool{
		"localhost": true, "LOCALHOST:8420": true, "localhost.": true, "127.0.0.1": true, "127.0.0.1:9": true, "[::1]:8420": true, "[::1]": true, "10.0.0.7": true, "trainer.lan:80": true,
		"evil.example": false, "evil.example:8420": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "trainer.lan.evil.example": false, "": false, "0x7f000001": false,
	} {
		got := statusOf(t, s, fmt.Sprintf("GET /state HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host))
		if want := map[bool]string{true: "200 OK", false: "421 Misdirected Request"}[known]; got != want {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
	}
}

// patient is a server that ends no connection by itself.
func patient(s *Server) {
	s.http.ReadHeaderTimeout, s.http.ReadTimeout, s.http.WriteTimeout, s.http.IdleTimeout = time.Hour, time.Hour, time.Hour, time.Hour
}

// dial connects to a server.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// answered asks and says whether there is an answer in time. It takes as much of it as comes at once.
func answered(c net.Conn, patience time.Duration) bool {
	_, _ = io.WriteString(c, "GET /state?points=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && strings.Contains(line, "200")
}

// waitFor waits for what other goroutines bring about.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// More viewers can't connect than there are places for while all of them are being answered; when one goes the next
// comes.
func TestPlacesAreFew(t *testing.T) {
	var inHand atomic.Int32
	answer := make(chan struct{})
	s := serveAs(t, func(s *Server) {
		patient(s)
		usual := s.http.Handler
		s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inHand.Add(1)
			<-answer
			usual.ServeHTTP(w, r)
		})
	}, sourceOf(aRun(t, 20), nil))
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release) // before the server is closed
	for range mostClients {
		_, _ = io.WriteString(dial(t, s), "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	waitFor(t, "all places are taken", func() bool { return inHand.Load() == mostClients })
	more := dial(t, s)
	if answered(more, 300*time.Millisecond) || inHand.Load() != mostClients {
		t.Error("there are more connections than places")
	}
	release()
	if !answered(more, time.Minute) {
		t.Error("a place that is free is not to be had")
	}
}

// A viewer who asks for nothing gives way to one who does, the one who has done so for longest first, and so does who
// never ends a request.
func TestIdleViewersGiveWay(t *testing.T) {
	s := serveAs(t, patient, sourceOf(aRun(t, 20), nil))
	waitIdle := func(n int) {
		waitFor(t, fmt.Sprintf("%d viewers are idle", n), func() bool {
			s.places.mu.Lock()
			defer s.places.mu.Unlock()
			return len(s.places.idle) == n
		})
	}
	var idle []net.Conn
	for i := range mostClients {
		c := dial(t, s)
		idle = append(idle, c)
		switch {
		case i == 0: // says nothing at all
		case i == 1:
			_, _ = io.WriteString(c, "GET /state HTTP/1.1\r\nHost: local")
		case !answered(c, time.Minute):
			t.Fatalf("viewer %d gets no answer", i)
		}
		waitIdle(i + 1)
	}
	last := mostClients - 1
	for i := range last {
		if c := dial(t, s); !answered(c, time.Minute) {
			t.Fatalf("viewer %d is kept out", mostClients+i)
		}
		waitIdle(mostClients)
	}
	for i, c := range idle {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if i == last {
			if !answered(c, time.Minute) {
				t.Error("who was idle for the shortest time has lost the place")
			}
		} else if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("viewer %d still has a place", i)
		}
	}
}

// Who connects and says nothing, or doesn't take what was asked for, loses the place after a while.
func TestSlowViewers(t *testing.T) {
	if s, err := New(nil, nil); err != nil || s.http.ReadHeaderTimeout != headerPatience || s.http.ReadTimeout != 2*headerPatience ||
		s.http.WriteTimeout != sendPatience || s.http.IdleTimeout != idlePatience {
		t.Errorf("%+v, %v", s, err)
	}
	const short = 50 * time.Millisecond
	hasty := func(s *Server) {
		s.http.ReadHeaderTimeout, s.http.ReadTimeout, s.http.WriteTimeout, s.http.IdleTimeout = short, short, short, short
	}
	s := serveAs(t, hasty, sourceOf(aRun(t, 2000), nil))
	for _, request := range []string{"", "GET /state HTTP/1.1\r\nHost: local", "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		raw(t, s, request) // which ends when the other side has closed the connection, or fails after a minute
	}
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 1000 { // asks for some 200 MB, which no buffer of a connection holds
		if _, err := io.WriteString(c, "GET /state?points=2000 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			break // it was closed
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	time.Sleep(10 * short)
	if n, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) || n > 50<<20 {
		t.Errorf("%d bytes came, %v", n, err)
	}
}

// A server that is closed asks its runs nothing any more, whoever still waits.
func TestClose(t *testing.T) {
	dir := aRun(t, 20)
	info := holding()
	source := sourceOf(dir, info)
	asked := make(chan struct{}, 100)
	source.Info = func() *control.Info { asked <- struct{}{}; return info }
	s := serve(t, source)
	if code, _, _ := get(t, s, "/memory"); code != 200 {
		t.Fatal(code)
	}
	c, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET /memory HTTP/1.1\r\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for len(asked) > 0 {
		<-asked
	}
	_, _ = io.WriteString(c, "Host: localhost\r\n\r\n")
	if b, _ := io.ReadAll(c); len(b) > 0 || len(asked) > 0 {
		t.Errorf("it answers %q", b)
	}
	if s.enter() {
		t.Error("a request may still be answered")
	}
	_, err = http.Get(s.listener.URL)
	testkit.MustFail(t, err, "refused")
}

package watch

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		text   string
		public bool
		want   string // what the address is, or part of the error
		bad    bool
	}{
		{"127.0.0.1:8420", false, "127.0.0.1:8420", false},
		{"127.3.4.5:0", false, "127.3.4.5:0", false},
		{"[::1]:8420", false, "[::1]:8420", false},
		{"localhost:08420", false, "localhost:8420", false},
		{"unix:/run/x.sock", false, "unix:/run/x.sock", false},
		{"unix:x", true, "unix:x", false},
		{"0.0.0.0:8420", true, "0.0.0.0:8420", false},
		{":8420", true, ":8420", false},
		{":8420", false, "set listen_public", true},
		{"0.0.0.0:8420", false, "ssh -L 8420:127.0.0.1:8420", true},
		{"[::]:8420", false, "without a password", true},
		{"192.168.1.2:8420", false, "other machines reach 192.168.1.2:8420", true},
		{"[::ffff:10.0.0.1]:1", false, "listen_public", true},
		{"8420", false, "want HOST:PORT", true},
		{"localhost", false, "want HOST:PORT", true},
		{"127.0.0.1:65536", false, `the port is "65536", want 0 to 65535`, true},
		{"127.0.0.1:http", false, "want 0 to 65535", true},
		{"127.0.0.1:-1", false, "want 0 to 65535", true},
		{"http://localhost:80", false, "no address", true},
		{"a b:80", false, "want a name or an address", true},
		{"unix:", false, "names no socket", true},
		{"unix:" + strings.Repeat("d/", 50), false, "has 100 bytes, want at most 88", true},
		{"", false, "no address", true},
	} {
		a, err := ParseAddress(c.text, c.public)
		switch {
		case c.bad:
			testkit.MustFail(t, err, c.want)
		case err != nil || a.String() != c.want:
			t.Errorf("%q is %v, %v", c.text, a, err)
		}
	}
}

func listening(t *testing.T, text string, public bool) (*Listener, error) {
	t.Helper()
	a, err := ParseAddress(text, public)
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Listen(public)
	if err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return l, err
}

func TestPortIsTaken(t *testing.T) {
	l, err := listening(t, "127.0.0.1:0", false)
	if err != nil || l.Public || !strings.HasPrefix(l.URL, "http://127.0.0.1:") || strings.HasSuffix(l.URL, ":0/") {
		t.Fatalf("%+v, %v", l, err)
	}
	_, err = listening(t, l.Addr().String(), false)
	testkit.MustFail(t, err, "can't listen on "+l.Addr().String(), "another program does", "choose another port", "address already in use")
	_, err = listening(t, "192.0.2.1:0", true) // of a network for documentation (RFC 5737)
	testkit.MustFail(t, err, "this machine hasn't that address")
	_, err = listening(t, "no-such-name.invalid:0", true)
	testkit.MustFail(t, err, `the name "no-such-name.invalid" has no address`)
}

func TestPublicAddress(t *testing.T) {
	l, err := listening(t, "0.0.0.0:0", true)
	if err != nil || !l.Public {
		t.Fatalf("%+v, %v", l, err)
	}
	name, err := os.Hostname()
	if err != nil || !strings.HasPrefix(l.URL, "http://"+name+":") {
		t.Errorf("%s of %s", l.URL, name)
	}
	if l, err := listening(t, "127.0.0.1:0", true); err != nil || l.Public {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := listening(t, "localhost:0", false); err != nil || l.Public {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "kt") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := listening(t, "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("%v, %v", info, err)
	}
	s, err := New(l, []Source{sourceOf(aRun(t, 10), nil)})
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve()
	dial := func() (net.Conn, error) { return net.Dial("unix", path) }
	client := http.Client{Transport: &http.Transport{Dial: func(string, string) (net.Conn, error) { return dial() }, DisableKeepAlives: true}}
	answer, err := client.Get("http://whatever.example/state") // behind a proxy it has any name
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(body), `"update":100`) {
		t.Errorf("%s, %v", body, err)
	}
	_, err = listening(t, "unix:"+path, false)
	testkit.MustFail(t, err, "another program does")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v stay, %v", list, err)
	}
	// What a killed program has left is replaced; anything else stays.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	again, err := listening(t, "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	// Another program's by now: it stays.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "s", "mine")
	again.Close()
	_, err = listening(t, "unix:"+path, false)
	testkit.MustFail(t, err, "something else than a socket, which stays")
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	_, err = listening(t, "unix:"+filepath.Join(dir, "none", "s"), false)
	testkit.MustFail(t, err, "can't listen on unix:", "no such file")
}

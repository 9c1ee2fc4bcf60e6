package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Address is where runs are shown: HOST:PORT, or unix:PATH of a socket.
type Address struct {
	host, port string // of TCP
	path       string // of a Unix socket; "" for TCP
}

const unixPrefix = "unix:"

// mostSocketPath is the longest path of a socket, in bytes. Systems take 103 or more, and it begins with another name.
const mostSocketPath = 88

// ParseAddress reads an address. A host that other machines reach is an error unless public says that this is wanted. A
// name's address isn't looked up here.
func ParseAddress(text string, public bool) (Address, error) {
	if path, ok := strings.CutPrefix(text, unixPrefix); ok {
		switch {
		case path == "":
			return Address{}, fmt.Errorf("%q names no socket, want unix:PATH", text)
		case len(path) > mostSocketPath:
			return Address{}, fmt.Errorf("%q: the path of the socket has %d bytes, want at most %d", text, len(path), mostSocketPath)
		}
		return Address{path: path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%q is no address, want HOST:PORT, as 127.0.0.1:8420, or unix:PATH", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return Address{}, fmt.Errorf("%q: the port is %q, want 0 to 65535, where 0 is any that is free", text, port)
	} else {
		port = strconv.FormatUint(n, 10)
	}
	if strings.ContainsAny(host, " /\\@") {
		return Address{}, fmt.Errorf("%q: the host is %q, want a name or an address, as 127.0.0.1", text, host)
	}
	a := Address{host: host, port: port}
	if ip, err := netip.ParseAddr(host); !public && (host == "" || err == nil && !ip.IsLoopback()) {
		return Address{}, a.notPublic()
	}
	return a, nil
}

func (a Address) String() string {
	if a.path != "" {
		return unixPrefix + a.path
	}
	return net.JoinHostPort(a.host, a.port)
}

// notPublic refuses an address that other machines reach.
func (a Address) notPublic() error {
	return fmt.Errorf("other machines reach %s, and anyone there could see the run and hear recordings, without a password: "+
		"set listen_public if that is wanted, or listen on 127.0.0.1:%s and come through ssh -L %[2]s:127.0.0.1:%[2]s", a, a.port)
}

// Exposed is what must be said of a listener that is public.
const Exposed = "WARNING: other machines reach this page, and there is no password: all who reach it can see the run's curves, and read and hear its worst utterances"

// Listener waits for viewers.
type Listener struct {
	net.Listener
	URL    string // for people
	Public bool   // other machines reach it
	hosts  []string
	socket os.FileInfo // of a Unix socket
	path   string
}

// Listen begins to listen. Errors say what is in the way.
func (a Address) Listen(public bool) (*Listener, error) {
	if a.path != "" {
		return a.listenUnix()
	}
	open, err := a.reached()
	if err != nil {
		return nil, err
	}
	if open && !public {
		return nil, a.notPublic()
	}
	l, err := net.Listen("tcp", a.String())
	if err != nil {
		return nil, a.explain(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	host := a.host
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			host = "localhost"
		}
	}
	return &Listener{Listener: l, URL: "http://" + net.JoinHostPort(host, port) + "/", Public: open, hosts: []string{"localhost", strings.ToLower(host)}}, nil
}

// reached says whether other machines reach the host.
func (a Address) reached() (bool, error) {
	if a.host == "" {
		return true, nil
	}
	if ip, err := netip.ParseAddr(a.host); err == nil {
		return !ip.IsLoopback(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", a.host)
	if err != nil {
		return false, fmt.Errorf("can't listen on %s: the name %q has no address: %w", a, a.host, err)
	}
	for _, ip := range ips {
		if !ip.Unmap().IsLoopback() {
			return true, nil
		}
	}
	return false, nil
}

// explain says what to do about an address that can't be had.
func (a Address) explain(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno // the rest is said here
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("can't listen on %s: another program does, which may be another run: choose another port, or 0 for any that is free: %w", a, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("can't listen on %s: this machine hasn't that address: %w", a, err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fmt.Errorf("can't listen on %s: this user may not: choose a port from 1024 on, or a folder to write to: %w", a, err)
	}
	return fmt.Errorf("can't listen on %s: %w", a, err)
}

// listenUnix makes a socket that only this user can reach. It is made in a folder of its own and takes its name when
// nobody else can reach it any more.
func (a Address) listenUnix() (*Listener, error) {
	if err := a.clear(); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(filepath.Dir(a.path), ".kt")
	if err != nil {
		return nil, a.explain(err)
	}
	defer os.RemoveAll(private)
	made := filepath.Join(private, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, a.explain(err)
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, a.path)
	}
	return a.named(l, err)
}

func (a Address) named(l *net.UnixListener, err error) (*Listener, error) {
	var info os.FileInfo
	if err == nil {
		info, err = os.Lstat(a.path)
	}
	if err != nil {
		l.Close()
		return nil, a.explain(err)
	}
	return &Listener{Listener: l, URL: a.String(), socket: info, path: a.path}, nil
}

// clear removes the socket of a program that was killed. Anything else there is refused.
func (a Address) clear() error {
	info, err := os.Lstat(a.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return a.explain(err)
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("can't listen on %s: there is something else than a socket, which stays", a)
	}
	c, err := net.DialTimeout("unix", a.path, time.Second)
	if err == nil {
		c.Close()
		return fmt.Errorf("can't listen on %s: another program does, which may be another run: choose another path", a)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return a.explain(err)
	}
	if err := os.Remove(a.path); err != nil {
		return a.explain(err)
	}
	return nil
}

// Close ends it, and removes its socket if it is still its own.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	if l.socket != nil {
		if info, e := os.Lstat(l.path); e == nil && os.SameFile(info, l.socket) {
			_ = os.Remove(l.path)
		}
	}
	return err
}

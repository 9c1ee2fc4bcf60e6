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
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is where a run listens.
type socket struct {
	*net.UnixListener
	at      *folder     // where the socket lies
	made    fs.FileInfo // the socket
	pointer *folder     // the run's folder, if the socket lies in a private one; else nil
}

// folder is an open folder. A socket's path has at most 107 bytes, which checkpoint_dir alone may exceed: below
// /proc/self/fd/N every path is short. It also stays the folder that it was when it is moved.
type folder struct {
	*os.File
	path string // as it was opened
}

func openFolder(path string) (*folder, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &folder{f, path}, nil
}

// file is a short path of a file in the folder, good while that is open.
func (f *folder) file(name string) string {
	return filepath.Join(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), name)
}

// listen makes the socket in dir. What a run that was killed has left is replaced.
func listen(dir string) (*socket, error) {
	d, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	if c, err := connect(context.Background(), d); err == nil {
		c.Close()
		d.Close()
		return nil, errors.New("another run answers there")
	}
	removePrivate(d)
	s, err := bind(d)
	if err == nil {
		return s, nil
	}
	if s, privateErr := listenPrivately(d); privateErr == nil {
		return s, nil
	} else {
		err = fmt.Errorf("%w; nor is there one in the folder for temporary files: %w", err, privateErr)
	}
	d.Close()
	return nil, err
}

// bind makes a socket in a folder. It gets its name when it is ready, and nobody else may write to it.
func bind(at *folder) (*socket, error) {
	fresh, name := at.file(socketFile+".new"), at.file(socketFile)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, name)
	}
	var made fs.FileInfo
	if err == nil {
		made, err = os.Lstat(name)
	}
	if err != nil {
		_ = os.Remove(fresh)
		l.Close()
		return nil, err
	}
	return &socket{UnixListener: l, at: at, made: made}, nil
}

// private begins the name of a folder for a socket.
const private = "konkanitrain-control-"

// pointer is the content of pointerFile.
type pointer struct {
	Socket string `json:"socket"` // its path
}

// listenPrivately makes the socket in a folder of its own and says in d where that is: file systems that come from
// another system, or over a network, often hold no sockets.
func listenPrivately(d *folder) (*socket, error) {
	dir, err := os.MkdirTemp("", private)
	if err != nil {
		return nil, err
	}
	at, err := openFolder(dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	s, err := bind(at)
	if err != nil {
		at.Close()
		return nil, errors.Join(err, os.Remove(dir))
	}
	s.pointer = d
	text, err := json.Marshal(pointer{filepath.Join(dir, socketFile)})
	if err == nil {
		err = os.WriteFile(d.file(pointerFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		s.pointer = nil
		return nil, errors.Join(err, s.close(), os.Remove(dir))
	}
	return s, nil
}

// removePrivate removes what a run that was killed has left in the folder for temporary files, and the word of it.
func removePrivate(d *folder) {
	at, err := pointed(d)
	if err != nil {
		return
	}
	if strings.HasPrefix(filepath.Base(at), private) {
		_ = os.Remove(filepath.Join(at, socketFile))
		_ = os.Remove(at) // nothing else is in it, or it stays
	}
	_ = os.Remove(d.file(pointerFile))
}

// pointed is the private folder that is named in d.
func pointed(d *folder) (string, error) {
	text, err := os.ReadFile(d.file(pointerFile))
	if err != nil {
		return "", err
	}
	var p pointer
	if err := json.Unmarshal(text, &p); err != nil || !filepath.IsAbs(p.Socket) || filepath.Base(p.Socket) != socketFile {
		return "", fmt.Errorf("%s is not what a run writes there", filepath.Join(d.path, pointerFile))
	}
	return filepath.Dir(p.Socket), nil
}

// close stops listening and removes the socket, if it is still this one: the folder may be gone, or another run's.
func (s *socket) close() error {
	err := s.UnixListener.Close()
	name := s.at.file(socketFile)
	if now, e := os.Lstat(name); e == nil && os.SameFile(now, s.made) {
		err = errors.Join(err, os.Remove(name))
	}
	if s.pointer != nil {
		if at, e := pointed(s.pointer); e == nil && at == s.at.path {
			err = errors.Join(err, os.Remove(s.pointer.file(pointerFile)))
		}
		err = errors.Join(err, os.Remove(s.at.path), s.pointer.Close())
	}
	return errors.Join(err, s.at.Close())
}

// dial connects to the run that listens in dir.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	d, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s: %w", dir, ErrNoRun)
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	c, err := connect(ctx, d)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED): // nobody listens; a run that was killed leaves its socket
		return nil, fmt.Errorf("%s: %w", dir, ErrNoRun)
	}
	return nil, fmt.Errorf("the run in %s can't be asked: %w", dir, err)
}

// connect connects to the socket in a folder, or to the one that it points to.
func connect(ctx context.Context, d *folder) (net.Conn, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", d.file(socketFile))
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return c, err
	}
	path, pointErr := pointed(d)
	if errors.Is(pointErr, fs.ErrNotExist) {
		return nil, err
	}
	if pointErr != nil {
		return nil, pointErr
	}
	at, openErr := openFolder(path)
	if openErr != nil {
		return nil, openErr
	}
	defer at.Close()
	return dialer.DialContext(ctx, "unix", at.file(socketFile))
}

// allowed is an error if the other end is another user's, unless that is root.
func allowed(c net.Conn) error {
	who, err := credentials(c)
	if err != nil {
		return err
	}
	return allowedUser(int(who.Uid), os.Geteuid())
}

func allowedUser(uid, own int) error {
	if uid != 0 && uid != own {
		return fmt.Errorf("this run belongs to user %d and answers to nobody else, so not to user %d", own, uid)
	}
	return nil
}

// peer is the process at the other end, 0 if it isn't known.
func peer(c net.Conn) int {
	who, err := credentials(c)
	if err != nil {
		return 0
	}
	return int(who.Pid)
}

func credentials(c net.Conn) (who *unix.Ucred, err error) {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return nil, e
	}
	return who, err
}

package watch

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// few is a listener that has a bounded number of connections at a time. Where all places are taken the next connection
// gets that of the one that has asked for nothing for longest, so that windows left open keep nobody out; while all of
// them are being answered it waits.
type few struct {
	net.Listener
	mu      sync.Mutex
	changed sync.Cond // a connection is closed, or idle
	open    int
	idle    []*counted // those that ask for nothing, the longest first
	closed  bool
}

func newFew(l net.Listener) *few {
	f := &few{Listener: l}
	f.changed.L = &f.mu
	return f
}

// Accept waits for the next connection, and for a place for it.
func (f *few) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	for f.open >= mostClients && !f.closed {
		if len(f.idle) == 0 {
			f.changed.Wait()
			continue
		}
		longest := f.idle[0]
		f.mu.Unlock()
		_ = longest.Close()
		f.mu.Lock()
	}
	defer f.mu.Unlock()
	if f.closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	f.open++
	return &counted{Conn: c, few: f}, nil
}

// Close also ends the wait for a place.
func (f *few) Close() error {
	f.mu.Lock()
	f.closed = true
	f.changed.Broadcast()
	f.mu.Unlock()
	return f.Listener.Close()
}

// state is told what becomes of a connection, as http.Server.ConnState.
func (f *few) state(c net.Conn, s http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := c.(*counted)
	f.busy(of)
	if (s == http.StateNew || s == http.StateIdle) && !of.closed {
		f.idle = append(f.idle, of)
		f.changed.Broadcast()
	}
}

// busy takes a connection off those that ask for nothing. It is called with the lock held.
func (f *few) busy(c *counted) {
	f.idle = slices.DeleteFunc(f.idle, func(x *counted) bool { return x == c })
}

// counted is a connection that makes room when it is closed.
type counted struct {
	net.Conn
	few    *few
	closed bool // under few's lock
}

// Close makes room once.
func (c *counted) Close() error {
	f := c.few
	f.mu.Lock()
	if !c.closed {
		c.closed = true
		f.open--
		f.busy(c)
		f.changed.Broadcast()
	}
	f.mu.Unlock()
	return c.Conn.Close()
}

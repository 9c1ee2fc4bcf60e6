//go:build !linux

package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
)

// socket is never made here: who is at the other end of one is asked of the system in a way of Linux.
type socket struct{ net.Listener }

func (*socket) close() error { return nil }

var errUnsupported = fmt.Errorf("a run can't be asked on %s: %w", runtime.GOOS, errors.ErrUnsupported)

func listen(string) (*socket, error) { return nil, errUnsupported }

func dial(context.Context, string) (net.Conn, error) { return nil, errUnsupported }

func allowed(net.Conn) error { return errUnsupported }

func peer(net.Conn) int { return 0 }

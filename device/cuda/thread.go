//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// thread is one thread of the operating system that works off pieces of work, one after another. A driver's context is
// current on a thread, and so all calls come from this one.
type thread struct {
	work chan func()
	done chan struct{} // closed when no more work is taken
}

func newThread() *thread {
	t := &thread{work: make(chan func()), done: make(chan struct{})}
	go t.run()
	return t
}

// run never unlocks the thread, so that it ends with the goroutine, and the context is current nowhere else.
func (t *thread) run() {
	runtime.LockOSThread()
	for {
		select {
		case f := <-t.work:
			f()
		case <-t.done:
			return
		}
	}
}

var errClosed = errors.New("the card is closed")

// do runs f on the thread and waits for it. A panic in f is an error, with its stack.
func (t *thread) do(f func() error) (err error) {
	broken := make(chan error, 1)
	job := func() {
		panicked := true
		defer func() {
			if panicked {
				broken <- fmt.Errorf("the work on the card's thread broke down: %v\n%s", recover(), debug.Stack())
			} else {
				broken <- nil
			}
		}()
		err = f()
		panicked = false
	}
	select {
	case t.work <- job:
	case <-t.done:
		return errClosed
	}
	if b := <-broken; b != nil {
		return b
	}
	return err
}

// end takes no more work.
func (t *thread) end() { close(t.done) }

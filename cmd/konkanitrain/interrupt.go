package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// bounce is how soon a second signal counts as the first: some programs send theirs twice, to the process and to its
// group.
const bounce = 500 * time.Millisecond

// interruptible is a context that the first SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal is gone) cancels. A later
// one ends the program at once. A command that saves is also stopped in order when nobody reads its output any more
// (SIGPIPE): Ctrl-C ends a "| tee" too, and the next line written would end the program before it has saved. The
// function returned gives the signals back.
func interruptible(w io.Writer, cmd command) (context.Context, func()) {
	stopping := &stop{}
	stopping.text.Store(&cmd.onStop)
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), stopKey{}, stopping))
	signals, pipe := make(chan os.Signal, 2), make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup asks
		signal.Notify(signals, syscall.SIGHUP)
	}
	if cmd.saves {
		signal.Notify(pipe, syscall.SIGPIPE)
	}
	go func() {
		for first := (time.Time{}); ; {
			select {
			case <-done:
				return
			case <-pipe:
				cancel()
				continue
			case <-signals:
			}
			switch {
			case first.IsZero():
				first = time.Now()
			case time.Since(first) < bounce:
				continue
			default:
				os.Exit(exitInterrupted)
			}
			cancel()
			fmt.Fprintf(w, "\nInterrupted: %s. Once more stops at once.\n", *stopping.text.Load())
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipe)
		close(done)
		cancel()
	}
}

// stop is what the first signal does, as far as it is known when the command has begun.
type stop struct {
	text     atomic.Pointer[string] // what it is said to do
	finishes atomic.Bool            // it has the command finish something, which may take its time
}

// stopKey is the key under which a context of interruptible has its *stop.
type stopKey struct{}

// sayOnStop changes what the first signal is said to do.
func sayOnStop(ctx context.Context, text string) {
	if s, ok := ctx.Value(stopKey{}).(*stop); ok {
		s.text.Store(&text)
	}
}

// finishOnStop says that from now on the first signal has something finished: it is waited for.
func finishOnStop(ctx context.Context, text string) {
	sayOnStop(ctx, text)
	if s, ok := ctx.Value(stopKey{}).(*stop); ok {
		s.finishes.Store(true)
	}
}

// grace is how long a command that has nothing to finish may take to stop.
const grace = time.Second

// untilStopped runs a command. Where it has nothing to finish and doesn't stop within grace of the first signal, as in
// the middle of a large network's program that is compiled, it is left where it stands: the error is the context's, and
// the program ends.
func untilStopped(ctx context.Context, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	s, _ := ctx.Value(stopKey{}).(*stop)
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
	}
	if s != nil && s.finishes.Load() {
		return <-done
	}
	return context.Cause(ctx)
}

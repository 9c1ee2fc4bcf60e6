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
	onStop := &atomic.Value{}
	onStop.Store(cmd.onStop)
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), onStopKey{}, onStop))
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
			fmt.Fprintf(w, "\nInterrupted: %s. Once more stops at once.\n", onStop.Load())
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipe)
		close(done)
		cancel()
	}
}

// onStopKey is the key under which a context of interruptible has what its first signal is said to do.
type onStopKey struct{}

// sayOnStop changes what the first signal is said to do, by settings that are known when the command has begun.
func sayOnStop(ctx context.Context, text string) {
	if onStop, ok := ctx.Value(onStopKey{}).(*atomic.Value); ok {
		onStop.Store(text)
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// bounce is how soon a second signal counts as the first: some programs send theirs twice, to the process and to its
// group.
const bounce = 500 * time.Millisecond

// interruptible is a context that the first SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal is gone) cancels. A later
// one ends the program at once. The function returned gives the signals back.
func interruptible(w io.Writer, onStop string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup asks
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for first := (time.Time{}); ; {
			select {
			case <-done:
				return
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
			fmt.Fprintf(w, "\nInterrupted: %s. Once more stops at once.\n", onStop)
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// interruptible is a context that the first SIGINT (Ctrl-C) or SIGTERM cancels. The second one ends the program
// at once. The function returned gives the signals back.
func interruptible(w io.Writer, onStop string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case <-signals:
			}
			if !first {
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

package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A file that goes bad during the run is an error of its example and of no other.
func TestFileGoesBad(t *testing.T) {
	s := spoken(t, 7)
	os.Remove(s.At(1).Path())
	os.WriteFile(s.At(6).Path(), wav(s.At(6).Samples+800, 8000), 0o644) // longer: the text was another sound's
	os.WriteFile(s.At(2).Path(), wav(100, 8000), 0o644)
	os.WriteFile(s.At(3).Path(), wav(s.At(3).Samples, 16000), 0o644)
	os.WriteFile(s.At(4).Path(), []byte("RIFF, no longer"), 0o644)
	reasons := map[string]string{
		"u1": "no such file", "u2": "has 100 samples at 8000 Hz, and had ", "u3": "at 16000 Hz, and had ", "u4": `of the kind " lon" where WAVE is expected`, "u6": "changed since the manifest was read",
	}
	o := augmented(options8k(6))
	l := newLoader(t, s, o)
	r, _ := l.Start(context.Background(), 0, 0)
	defer r.Close()
	for range 3 {
		w, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Examples {
			why, bad := reasons[e.Utt.ID]
			if bad != (e.Err != nil) || bad != (e.Features == nil) || bad != (e.Frames == 0) {
				t.Errorf("%s: %v, %d frames", e.Utt.ID, e.Err, e.Frames)
			}
			if bad && !strings.Contains(e.Err.Error(), why) {
				t.Errorf("%s: %v; want %q", e.Utt.ID, e.Err, why)
			}
			if bad && !strings.Contains(e.Err.Error(), fmt.Sprintf("%s (%s, line %d): ", e.Utt.ID, s.Path, e.Utt.Line)) {
				t.Errorf("%v", e.Err)
			}
		}
		w.Release()
		w.Release()
	}
}

// A panic below becomes the error of the example.
func TestPanicBelow(t *testing.T) {
	s := spoken(t, 1)
	l := newLoader(t, s, options8k(1))
	e := &Example{Utt: s.At(0)}
	l.fill(e, 0, nil, nil) // no reader
	if e.Err == nil || !strings.Contains(e.Err.Error(), "fault of the program") {
		t.Errorf("%v", e.Err)
	}
}

func TestCancel(t *testing.T) {
	s := spoken(t, 8)
	l := newLoader(t, s, augmented(options8k(2)))
	before := runtime.NumGoroutine()
	for after := range 6 {
		ctx, cancel := context.WithCancelCause(context.Background())
		r, err := l.Start(ctx, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range after {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		why := errors.New("enough")
		cancel(why)
		if _, err := r.Next(); err != why {
			t.Errorf("after the context ended: %v", err)
		}
		r.Close()
		r.Close()
	}
	r, _ := l.Start(context.Background(), 0, 0)
	r.Close()
	if _, err := r.Next(); err != errClosed {
		t.Errorf("after Close: %v", err)
	}
	// A goroutine is counted for a moment after its last statement.
	after := runtime.NumGoroutine()
	for i := 0; after > before && i < 1000; i++ {
		time.Sleep(time.Millisecond)
		after = runtime.NumGoroutine()
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// Next returns when the context ends, also where it waits for data: for a window to be handed out, and for its
// examples.
func TestContextEndsWhileTheLoaderBlocks(t *testing.T) {
	for _, window := range []int{1, 6} { // with 6, two workers hold up the first window itself
		s := spoken(t, 8)
		// A busy machine may start Next only after the context has ended: such a try shows nothing.
		for try := 1; ; try++ {
			waited, err := endWhileBlocked(t, newLoader(t, s, options8k(window)), errEnough)
			if err != errEnough {
				t.Fatalf("windows of %d: %v", window, err)
			}
			if waited >= 20*time.Millisecond {
				break
			}
			if try == 100 {
				t.Fatalf("windows of %d: Next didn't block in %d tries", window, try)
			}
		}
	}
}

var errEnough = errors.New("enough")

// endWhileBlocked ends the context of a loader whose workers get no memory, while Next waits for them.
func endWhileBlocked(t *testing.T, l *Loader, why error) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	l.buffers.mu.Lock()
	r, err := l.Start(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer l.buffers.mu.Unlock()
	got := make(chan error)
	go func() {
		_, err := r.Next()
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("Next didn't wait: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	cancel(why)
	select {
	case err := <-got:
		return r.Waited(), err
	case <-time.After(20 * time.Second):
		t.Fatal("Next doesn't return")
	}
	return 0, nil
}

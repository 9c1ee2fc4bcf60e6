package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
)

// Example is an utterance ready for the model.
type Example struct {
	Utt      *Utterance
	Features []float32   // [T, F], normalised and augmented; valid until the window's Release
	Frames   int         // T
	Tokens   []int32     // [U], those of Utt
	Speed    audio.Ratio // that the sound was played at
	// Err says that the file can't be read any more, or isn't what it was when the manifest was loaded.
	// Features is then nil and Frames 0, and whoever trains decides what to do.
	Err error
}

// Window is the examples of one update.
type Window struct {
	Epoch    int  // from 0
	Index    int  // in the epoch, from 0
	Last     bool // of its epoch
	Examples []*Example

	loader  *Loader
	pending atomic.Int32
	done    chan struct{} // closed when all examples are ready
}

// Release gives the features' memory back for further windows; they must not be used afterwards. A second
// Release does nothing.
func (w *Window) Release() {
	for _, e := range w.Examples {
		f := e.Features
		e.Features = nil
		w.loader.buffers.put(f)
	}
}

// Run yields windows in order while workers prepare the next ones. Next and Close belong to one goroutine.
type Run struct {
	loader *Loader
	ctx    context.Context
	cancel context.CancelCauseFunc
	ready  chan *Window
	wait   sync.WaitGroup
	waited atomic.Int64 // nanoseconds
}

type job struct {
	w *Window
	e *Example
}

var errClosed = errors.New("data: the run was closed")

// Run starts to prepare windows, from a window of an epoch on, both counted from 0. Close must be called.
func (l *Loader) Run(ctx context.Context, epoch, window int) (*Run, error) {
	if epoch < 0 || window < 0 || window >= l.Windows() {
		return nil, fmt.Errorf("data: there is no window %d in epoch %d; an epoch has %d, counted from 0", window, epoch, l.Windows())
	}
	extractors := make([]*feature.Extractor, l.o.Workers)
	for i := range extractors {
		var err error
		if extractors[i], err = feature.New(l.o.Feature); err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
	}
	r := &Run{loader: l, ready: make(chan *Window, l.o.Ahead-1)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	jobs := make(chan job)
	r.wait.Go(func() { r.produce(jobs, epoch, window) })
	for _, x := range extractors {
		r.wait.Go(func() { r.work(jobs, x) })
	}
	return r, nil
}

// produce hands out the work of one window after the other. The window before the one in hand waits in ready,
// which is what bounds the read-ahead.
func (r *Run) produce(jobs chan<- job, epoch, index int) {
	defer close(r.ready)
	defer close(jobs)
	l := r.loader
	for {
		us := l.Window(epoch, index)
		w := &Window{Epoch: epoch, Index: index, Last: index == l.Windows()-1, loader: l, done: make(chan struct{}),
			Examples: make([]*Example, len(us))}
		w.pending.Store(int32(len(us)))
		for i, u := range us {
			w.Examples[i] = &Example{Utt: u, Tokens: u.Tokens}
		}
		for _, e := range w.Examples {
			select {
			case jobs <- job{w, e}:
			case <-r.ctx.Done():
				return
			}
		}
		select {
		case r.ready <- w:
		case <-r.ctx.Done():
			return
		}
		if index++; w.Last {
			epoch, index = epoch+1, 0
			if l.o.Evaluate {
				return
			}
		}
	}
}

// work computes examples until there are no more.
func (r *Run) work(jobs <-chan job, x *feature.Extractor) {
	var reader audio.Reader
	for j := range jobs {
		if r.ctx.Err() == nil {
			r.loader.fill(j.e, j.w.Epoch, &reader, x)
		}
		if j.w.pending.Add(-1) == 0 {
			close(j.w.done)
		}
	}
}

// fill computes the features of an example. Whatever goes wrong becomes its Err.
func (l *Loader) fill(e *Example, epoch int, reader *audio.Reader, x *feature.Extractor) {
	u := e.Utt
	fail := func(err error) {
		l.buffers.put(e.Features)
		e.Features, e.Frames = nil, 0
		e.Err = fmt.Errorf("%s (%s, line %d): %w", u.ID, u.File, u.Line, err)
	}
	defer func() {
		if p := recover(); p != nil {
			fail(fmt.Errorf("a fault of the program while reading %s, please report it: %v\n%s", u.Path, p, debug.Stack()))
		}
	}()
	wave := l.cache.get(u)
	if wave == nil {
		info, x, err := reader.Read(u.Path, u.Offset, u.Duration)
		switch {
		case err != nil:
			fail(err)
			return
		case info.Rate != u.Rate || info.Length != u.length || len(x) != u.Samples:
			fail(fmt.Errorf("%s has %s at %d Hz, but had %d at %d Hz when the manifest was loaded; it was changed in between",
				u.Path, number(info.Length, "sample"), info.Rate, u.length, u.Rate))
			return
		}
		l.warn(info.Warnings)
		l.cache.put(u, x)
		wave = x
	}
	e.Speed = l.speed(epoch, u)
	want, err := l.o.Feature.Frames(u.Samples, u.Rate, e.Speed)
	if err != nil {
		fail(err)
		return
	}
	e.Features = l.buffers.get(want, l.bins)
	f, t, err := x.Extract(e.Features, wave, u.Rate, l.o.Augment, l.key(epoch, u))
	switch {
	case err != nil:
		fail(err)
		return
	case t == 0:
		fail(fmt.Errorf("no feature frame is left of %.3f s at speed %v", u.Duration, e.Speed))
		return
	}
	e.Features, e.Frames = f, t
}

// Next returns the next window, when it is ready. After the last one of an evaluation the error is io.EOF;
// after the context ended it is the context's.
func (r *Run) Next() (*Window, error) {
	start := time.Now()
	defer func() { r.waited.Add(int64(time.Since(start))) }()
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	var w *Window
	select {
	case w = <-r.ready:
	case <-r.ctx.Done():
	}
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	if w == nil {
		return nil, io.EOF
	}
	select {
	case <-w.done:
		return w, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// Waited is the time that Next has spent waiting for data, all calls together. It may be called at any time.
func (r *Run) Waited() time.Duration { return time.Duration(r.waited.Load()) }

// Close stops the workers and waits until they are gone. Windows that Next returned stay valid.
func (r *Run) Close() {
	r.cancel(errClosed)
	r.wait.Wait()
	for w := range r.ready {
		w.Release()
	}
}

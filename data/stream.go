package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/internal/words"
)

// Example is an utterance ready for the model.
type Example struct {
	Utt      *Utterance
	Features []float32   // [T, F], normalized and augmented; valid until the window's Release
	Frames   int         // T
	Planned  int         // T as Lengths gives it, known before the file was read; equal to Frames where Err is nil
	Tokens   []int32     // [U], those of Utt
	Speed    audio.Ratio // that the sound is played at
	// Err says that the file can't be read any more, or isn't what it was when the manifest was loaded, or, in
	// training, that there is no sound in it.
	// Features is then nil and Frames 0; Planned stays. Whoever trains decides what to do.
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

// Stream yields windows in order while workers prepare the next ones. Next, Peek and Close belong to one goroutine.
type Stream struct {
	loader *Loader
	ctx    context.Context
	cancel context.CancelCauseFunc
	ready  chan *Window
	peeked *Window // was taken from ready, and is the next one; nil for none
	wait   sync.WaitGroup
	waited atomic.Int64 // nanoseconds
}

type job struct {
	w *Window
	e *Example
}

var errClosed = errors.New("data: the stream was closed")

// Start begins to prepare windows, from a window of an epoch on, both counted from 0. Close must be called.
func (l *Loader) Start(ctx context.Context, epoch, window int) (*Stream, error) {
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
	s := &Stream{loader: l, ready: make(chan *Window, l.o.Ahead-1)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	jobs := make(chan job)
	s.wait.Go(func() { s.produce(jobs, epoch, window) })
	for _, x := range extractors {
		s.wait.Go(func() { s.work(jobs, x) })
	}
	return s, nil
}

// produce hands out the work of one window after the other. The window before the one in hand waits in ready,
// which is what bounds the read-ahead.
func (s *Stream) produce(jobs chan<- job, epoch, index int) {
	defer close(s.ready)
	defer close(jobs)
	l := s.loader
	for {
		us := l.Window(epoch, index)
		w := &Window{Epoch: epoch, Index: index, Last: index == l.Windows()-1, loader: l, done: make(chan struct{}),
			Examples: make([]*Example, len(us))}
		w.pending.Store(int32(len(us)))
		for i, u := range us {
			w.Examples[i] = l.example(epoch, u)
		}
		for _, e := range w.Examples {
			select {
			case jobs <- job{w, e}:
			case <-s.ctx.Done():
				return
			}
		}
		select {
		case s.ready <- w:
		case <-s.ctx.Done():
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
func (s *Stream) work(jobs <-chan job, x *feature.Extractor) {
	var reader audio.Reader
	for j := range jobs {
		if s.ctx.Err() == nil {
			s.loader.fill(j.e, j.w.Epoch, &reader, x)
		}
		if j.w.pending.Add(-1) == 0 {
			close(j.w.done)
		}
	}
}

// example is what is known of u in an epoch without its file.
func (l *Loader) example(epoch int, u *Utterance) *Example {
	speed := l.speed(epoch, u.Index, u.Key)
	return &Example{Utt: u, Planned: l.frames(u.Index, speed), Tokens: u.Tokens, Speed: speed}
}

// fill computes the features of an example. Whatever goes wrong becomes its Err, and is found out about the Set.
func (l *Loader) fill(e *Example, epoch int, reader *audio.Reader, x *feature.Extractor) {
	u := e.Utt
	fail := func(kind Kind, err error) {
		l.buffers.put(e.Features)
		e.Features, e.Frames = nil, 0
		e.Err = fmt.Errorf("%s (%s): %w", u.ID, Where(u.File, u.Line), err)
		l.set.found(u, kind, err.Error(), kind == Unreadable || kind == Silent)
	}
	defer func() {
		if p := recover(); p != nil {
			fail(Unreadable, fmt.Errorf("a fault of the program while reading %s, please report it: %v\n%s", u.Path(), p, debug.Stack()))
		}
	}()
	wave := l.cache.get(u)
	if wave == nil {
		x, warnings, err := u.read(reader)
		if err != nil {
			fail(Unreadable, err)
			return
		}
		if !l.o.Evaluate && silent(x) {
			fail(Silent, errors.New(strings.Join(warnings, "; ")))
			return
		}
		l.warn(warnings)
		l.cache.put(u, x)
		wave = x
	}
	e.Features = l.buffers.get(e.Planned, l.bins)
	a := l.augment(u.Index).At(epoch)
	f, t, err := x.Extract(e.Features, wave, u.Rate(), &a, l.key(epoch, u.Key))
	switch {
	case err != nil:
		fail(Unreadable, err)
	case t != e.Planned:
		fail(Unreadable, fmt.Errorf("%s gives %s, and %d were planned; it was changed since the manifest was read",
			u.Path(), words.Count(t, "feature frame"), e.Planned))
	case t == 0:
		fail(TooShort, fmt.Errorf("no feature frame is left of %.3f s at speed %v", u.Duration, e.Speed))
	default:
		e.Features, e.Frames = f, t
	}
}

// Next returns the next window, when it is ready. After the last one of an evaluation the error is io.EOF;
// after the context ended it is the context's.
func (s *Stream) Next() (*Window, error) {
	start := time.Now()
	defer func() { s.waited.Add(int64(time.Since(start))) }()
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	w := s.peeked
	if s.peeked = nil; w == nil {
		select {
		case w = <-s.ready:
		case <-s.ctx.Done():
		}
	}
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	if w == nil {
		return nil, io.EOF
	}
	select {
	case <-w.done:
		return w, nil
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	}
}

// Peek is the window that Next returns next, if it is ready already, and nil if it isn't: it doesn't wait. It is still
// the stream's. The loader needs the option Peeks, else it takes more memory than it has said.
func (s *Stream) Peek() *Window {
	if s.peeked == nil {
		select {
		case s.peeked = <-s.ready: // nil after the last one
		default:
		}
	}
	if s.peeked == nil {
		return nil
	}
	select {
	case <-s.peeked.done:
		return s.peeked
	default:
		return nil
	}
}

// Waited is the time that Next has spent waiting for data, all calls together. It may be called at any time.
func (s *Stream) Waited() time.Duration { return time.Duration(s.waited.Load()) }

// Close stops the workers and waits until they are gone. Windows that Next returned stay valid.
func (s *Stream) Close() {
	s.cancel(errClosed)
	s.wait.Wait()
	if s.peeked != nil {
		s.peeked.Release()
	}
	for w := range s.ready {
		w.Release()
	}
}

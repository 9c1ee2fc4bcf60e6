package recognize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
)

// piece is a stretch of a recording on its way through the network.
type piece struct {
	flow    *flow
	start   int // its first sample, at the model's rate
	samples int
	joined  int           // samples that it shares with the piece before
	first   bool          // of its recording, or of the rest that is still to be given
	example *data.Example // its features, once done is closed
	done    chan struct{}
}

// flow is a recording that is being read.
type flow struct {
	*Recording
	index  int
	pieces chan *piece // closed behind the last
	opened chan struct{}
	begun  bool       // there has been a piece; for the reader
	info   audio.Info // once opened is closed
	live   bool       // it comes as it is spoken

	heard    int       // once pieces is closed: samples there were
	err      error     // once pieces is closed: what was wrong
	warnings []string  // once pieces is closed: what is wrong with the file, and can be read all the same,
	odd      []finding // and what is odd about the sound
}

// listening reads recordings ahead, several at once, and makes features of their pieces.
type listening struct {
	ctx     context.Context
	gate    *gate
	cut     cut.Options
	feature feature.Options // with a Resampler
	charge  func(rate int) error

	longest atomic.Uint64 // seconds of a piece from now on, as bits
	order   chan *flow    // all of them, in their order
	free    chan *maker   // those that nobody uses
}

// maker makes features.
type maker struct {
	extractor *feature.Extractor
	wave      []float32 // of the piece in hand
}

// listen begins to read, as many recordings at once as the plan says. charge is asked before sound of a rate is
// resampled whether there is memory for that.
func listen(ctx context.Context, list []Recording, p *TranscribePlan, f feature.Options, charge func(rate int) error) (*listening, error) {
	l := &listening{
		ctx: ctx, gate: newGate(ctx, p.ahead), cut: p.cut, feature: f, charge: charge,
		order: make(chan *flow, p.readers), free: make(chan *maker, p.extractors),
	}
	l.shorten(p.cut.Longest)
	for range p.extractors {
		x, err := feature.New(f)
		if err != nil {
			return nil, err
		}
		l.free <- &maker{extractor: x}
	}
	work := make(chan *flow)
	go func() {
		defer close(l.order)
		defer close(work)
		for i := range list {
			fl := &flow{Recording: &list[i], index: i, pieces: make(chan *piece, 1), opened: make(chan struct{})}
			for _, c := range []chan *flow{l.order, work} {
				select {
				case c <- fl:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	for range p.readers {
		go func() {
			for f := range work {
				f.err = l.read(f)
				close(f.pieces)
			}
		}()
	}
	return l, nil
}

// shorten makes pieces from now on no longer than so many seconds.
func (l *listening) shorten(seconds float64) { l.longest.Store(math.Float64bits(seconds)) }

// seconds is how long a piece may be from now on.
func (l *listening) seconds() float64 { return math.Float64frombits(l.longest.Load()) }

// read reads a recording to its end.
func (l *listening) read(f *flow) (err error) {
	opened := false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of the program while reading %s, please report it: %v\n%s", f.Name, p, debug.Stack())
		}
		if !opened {
			close(f.opened)
		}
	}()
	track, err := f.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, track.Close()) }()
	f.info, f.live = track.Info, f.Source == nil
	rate := l.feature.SampleRate
	ratio, err := audio.Convert(f.info.Rate, rate, audio.Ratio{})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if err := l.charge(f.info.Rate); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	opened = true
	close(f.opened)
	cutter, err := cut.New(l.cut)
	if err != nil {
		return err
	}
	cutter.Skip(f.From.Sample, f.From.Joined)
	e := newExamination(rate)
	emit := func(p cut.Piece) error {
		e.piece(p)
		return l.take(f, p)
	}
	skip := f.From.Sample
	pass := func(x []float32) error {
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		f.heard += len(x)
		k := min(skip, len(x))
		x, skip = x[k:], skip-k
		e.add(x)
		cutter.Shorten(l.seconds())
		return cutter.Put(x, emit)
	}
	flow := l.feature.Resampler.Flow(ratio)
	var buf []float32
	info, err := track.Play(func(x []float32) error {
		for len(x) > 0 {
			n := min(atOnce, len(x))
			buf = flow.Put(buf[:0], x[:n])
			if err := pass(buf); err != nil {
				return err
			}
			x = x[n:]
		}
		return nil
	})
	if err == nil {
		buf = flow.End(buf[:0])
		err = pass(buf)
	}
	if stopped := l.ctx.Err() != nil; stopped {
		return context.Cause(l.ctx)
	}
	err = errors.Join(err, cutter.End(emit)) // also of a recording that is damaged further on
	frames, wrong := l.feature.Frames(f.heard, rate, audio.Ratio{})
	if err = errors.Join(err, wrong); err == nil && frames == 0 {
		err = fmt.Errorf("%s: it is too short for a single feature frame", f.Name)
	}
	if err == nil {
		f.warnings, f.odd = info.Warnings, e.findings(f.Name, f.info.Rate)
	}
	return err
}

// take makes features of a piece and hands it on, if it has any.
func (l *listening) take(f *flow, p cut.Piece) error {
	frames, err := l.feature.Frames(len(p.Wave), l.feature.SampleRate, audio.Ratio{})
	if err != nil || frames == 0 {
		return err
	}
	if !l.gate.enter(f, len(p.Wave)) {
		return context.Cause(l.ctx)
	}
	seconds := float64(len(p.Wave)) / float64(l.feature.SampleRate)
	out := &piece{flow: f, start: p.Start, samples: len(p.Wave), joined: p.Joined, first: !f.begun, done: make(chan struct{})}
	f.begun = true
	out.example = &data.Example{Utt: &data.Utterance{ID: f.Name, Duration: seconds}, Planned: frames, Frames: frames}
	var m *maker
	select {
	case m = <-l.free:
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
	m.wave = append(m.wave[:0], p.Wave...) // the cutter goes on with its own
	go func() {
		defer func() { l.free <- m; close(out.done) }()
		defer func() {
			if p := recover(); p != nil {
				out.example.Err = fmt.Errorf("%s: a fault of the program, please report it: %v\n%s", f.Name, p, debug.Stack())
			}
		}()
		x := out.example
		x.Features, x.Frames, x.Err = m.extractor.Extract(nil, m.wave, l.feature.SampleRate, nil, 0)
	}()
	select {
	case f.pieces <- out:
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

// next is the next piece of a recording; nil at its end. Without wait it is nil too where none has come yet, and more
// is true.
func (l *listening) next(f *flow, wait bool) (p *piece, more bool, err error) {
	select {
	case p, ok := <-f.pieces:
		return p, ok, nil
	default:
	}
	l.gate.want(f)
	if !wait {
		return nil, true, nil
	}
	select {
	case p, ok := <-f.pieces:
		return p, ok, nil
	case <-l.ctx.Done():
		return nil, false, context.Cause(l.ctx)
	}
}

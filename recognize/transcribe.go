package recognize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"konkanitrain/data/audio"
	"konkanitrain/recognize/transcript"
)

// Transcript is what was recognized in a file.
type Transcript struct {
	Path     string
	Part     string  // of the recording: an utterance's ID; "": it is the whole
	Duration float64 // seconds; 0 where the file can't be read
	Segments []transcript.Segment
	Err      error // what was wrong with the file: what is behind that is missing
}

// Text is what was said in all segments.
func (t *Transcript) Text() string {
	var texts []string
	for _, s := range t.Segments {
		if s.Text != "" {
			texts = append(texts, s.Text)
		}
	}
	return strings.Join(texts, " ")
}

// Transcribe recognizes files and gives each result, or what was wrong with the file, to emit, in the order of the
// paths; the others go on. Else it is [Model.TranscribeAll].
func (m *Model) Transcribe(ctx context.Context, paths []string, emit func(Transcript) error) error {
	list := make([]Recording, len(paths))
	for i, path := range paths {
		list[i] = FileRecording(path)
	}
	return m.TranscribeAll(ctx, list, TranscribeOptions{}, &gathering{paths: paths, emit: emit})
}

// gathering is an Output that gives each recording as a whole.
type gathering struct {
	paths []string
	emit  func(Transcript) error
	now   Transcript
}

func (g *gathering) Begin(_ int, r transcript.Recording) error {
	g.now = Transcript{Duration: r.Duration}
	return nil
}

func (g *gathering) Segment(s transcript.Segment) error {
	g.now.Segments = append(g.now.Segments, s)
	return nil
}

func (g *gathering) Through(Rest) error { return nil }

func (g *gathering) End(i int, err error) error {
	t := g.now
	g.now = Transcript{}
	t.Path, t.Err = g.paths[i], err
	return g.emit(t)
}

// TranscribeAll recognizes recordings of any length and gives what is said to out, in their order. A recording that
// can't be read is an error that out is told; the others go on. It ends early with an error of out, or with the
// context's cause, for which it waits for nothing.
//
// Recordings are cut into pieces at pauses, and where there is none into pieces that overlap and are joined where both
// say the same. All workers are kept busy, while the next recordings are read and made features of. Of memory it takes
// what PlanTranscribe says, however many recordings there are and however long they are. Where a pass finds less than
// that, pieces become shorter.
func (m *Model) TranscribeAll(ctx context.Context, list []Recording, o TranscribeOptions, out Output) error {
	wanted := m.recognizer.script.Units
	restore, err := m.withUnits() // pieces are joined by their words
	if err != nil {
		return err
	}
	defer restore()
	features := m.Description.Features
	features.Resampler = audio.NewResampler() // one set of kernels for all recordings
	m.Description.Features.Resampler = features.Resampler
	defer func() { m.Description.Features.Resampler = nil }()
	plan, err := m.PlanTranscribe(o)
	if err != nil {
		return err
	}
	defer m.unplan()
	if o.Planned != nil {
		o.Planned(plan)
	}
	arena := plan.arena
	for err = m.replica.Prepare(nil, arena); OutOfMemory(err) && arena > 1; err = m.replica.Prepare(nil, arena) {
		arena /= 2 // what doesn't fit becomes shorter
	}
	if err != nil {
		return err
	}
	m.recognizer.runner.Fit.SetLimit(arena)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := listen(ctx, list, plan, features, m.chargeResampling(features))
	if err != nil {
		return err
	}
	if o.Warn == nil {
		o.Warn = func(w string) { fmt.Fprintln(m.log, "WARNING:", w) }
	}
	t := &transcribing{Model: m, listening: l, options: o, plan: plan, out: out, units: wanted}
	for more := true; more; {
		if more, err = t.batch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// withUnits has words and characters read beside texts, until restore is called.
func (m *Model) withUnits() (restore func(), err error) {
	r := m.recognizer
	script, readers := r.script, r.readers
	s := *script
	s.Units = true
	if s.fusion == nil {
		s.fusion, err = s.load(s.tokenizer, s.policy, func(warning string) { fmt.Fprintln(m.log, "WARNING:", warning) })
	}
	if err == nil && !script.Units {
		err = r.use(s)
	}
	return func() { r.script, r.readers = script, readers }, err
}

// transcribing is a transcription.
type transcribing struct {
	*Model
	*listening
	options  TranscribeOptions
	plan     *TranscribePlan
	out      Output
	units    bool // out wants words and characters
	progress Progress
	batches  int

	now    *flow               // that pieces are taken of; nil: the next one
	begun  bool                // out knows the recording at hand
	some   bool                // out has a segment of it
	held   *transcript.Segment // was heard last, and may share its end with the next piece
	failed error               // what was wrong with a piece: the rest of the recording is passed over
}

// event is what comes next: a piece, or the end of a recording.
type event struct {
	flow  *flow
	piece *piece // nil: the end
}

// mostEvents is the most that a batch has of very short recordings.
const mostEvents = 256

// gather collects the next batch: pieces of as much sound as the plan says. more is false at the end of all recordings.
func (t *transcribing) gather() (events []event, more bool, err error) {
	for samples := 0; samples+t.cut.Samples() <= t.plan.window && len(events) < mostEvents; {
		if t.now == nil {
			select {
			case f, ok := <-t.order:
				if !ok {
					return events, false, stopped(t.ctx)
				}
				t.now = f
			case <-t.ctx.Done():
				return nil, false, context.Cause(t.ctx)
			}
		}
		f := t.now
		p, more, err := t.next(f, !f.isLive() || len(events) == 0)
		switch {
		case err != nil:
			return nil, false, err
		case p != nil:
			events = append(events, event{f, p})
			samples += p.samples
		case more: // nothing yet
			return events, true, nil
		default:
			events = append(events, event{flow: f})
			t.now = nil
		}
	}
	return events, true, nil
}

// stopped is the cause of a context that has ended.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// isLive says whether the recording comes as it is spoken.
func (f *flow) isLive() bool { return f.Source == nil }

// batch recognizes the next batch and gives what came out.
func (t *transcribing) batch(ctx context.Context) (more bool, err error) {
	events, more, err := t.gather()
	if err != nil {
		return false, err
	}
	var pieces []*piece
	samples := 0
	defer func() { t.gate.leave(samples) }()
	for _, e := range events {
		if e.piece == nil {
			continue
		}
		samples += e.piece.samples
		select {
		case <-e.piece.done:
			pieces = append(pieces, e.piece)
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	rows, err := t.recognize(ctx, pieces)
	if err != nil {
		return false, err
	}
	for _, e := range events {
		if err := stopped(ctx); err != nil {
			return false, err
		}
		if e.piece == nil {
			err = t.end(e.flow)
		} else {
			err = t.piece(e.piece, rows[0])
			rows = rows[1:]
		}
		if err != nil {
			return false, err
		}
	}
	t.tell(len(pieces), samples)
	return more, nil
}

// row is what was heard of a piece, in times of the recording, or what was wrong with it.
type row struct {
	transcript.Segment
	err error
}

// piece takes what was heard of the next piece.
func (t *transcribing) piece(p *piece, r row) error {
	seconds := float64(p.samples-p.joined) / float64(t.feature.SampleRate)
	t.progress.Seconds += seconds
	t.progress.Within = float64(p.start+p.samples) / float64(t.feature.SampleRate)
	t.progress.Current, t.progress.Of = p.flow.index, p.flow.info.Seconds()
	if t.failed != nil {
		return nil
	}
	if t.failed = r.err; r.err != nil {
		return nil
	}
	if err := t.begin(p.flow); err != nil {
		return err
	}
	joined := p.joined > 0 && t.held != nil
	if !joined {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if p.start > p.flow.From.Sample {
		if err := t.out.Through(Rest{Sample: p.start, Joined: p.joined, Held: t.held, Said: t.some}); err != nil {
			return err
		}
	}
	if joined {
		from := float64(p.start) / float64(t.feature.SampleRate)
		left, right := stitch(*t.held, r.Segment, from, from+float64(p.joined)/float64(t.feature.SampleRate))
		t.held = &right
		return t.give(left)
	}
	t.held = &r.Segment
	return nil
}

// begin tells out of a recording, once.
func (t *transcribing) begin(f *flow) error {
	if t.begun {
		return nil
	}
	t.begun, t.held, t.some = true, f.From.Held, f.From.Said
	return t.out.Begin(f.index, transcript.Recording{Path: f.Name, Duration: f.info.Seconds()})
}

// give gives a segment, if something is said in it.
func (t *transcribing) give(s transcript.Segment) error {
	if s.Text == "" {
		return nil
	}
	t.some = true
	if !t.units {
		s.Words, s.Characters = nil, nil
	}
	return t.out.Segment(s)
}

// flush gives what was held back.
func (t *transcribing) flush() error {
	if t.held == nil {
		return nil
	}
	s := *t.held
	t.held = nil
	return t.give(s)
}

// end ends a recording.
func (t *transcribing) end(f *flow) error {
	last := t.held
	if err := t.flush(); err != nil {
		return err
	}
	if t.begun && !t.some && last != nil {
		last.Start = 0
		if err := t.out.Segment(*last); err != nil {
			return err
		}
	}
	err := f.err
	if t.failed != nil {
		err = t.failed
	}
	t.begun, t.some, t.held, t.failed = false, false, nil, nil
	t.progress.Recordings++
	t.progress.Within, t.progress.Of = 0, 0
	ending := t.out.End(f.index, err)
	slices.Sort(f.warnings)
	for _, w := range f.warnings { // behind what was written, which may be on the same terminal
		t.options.Warn(w)
	}
	return ending
}

// tell tells of a batch that has ended.
func (t *transcribing) tell(pieces, samples int) {
	t.batches++
	if t.options.Progress != nil {
		t.options.Progress(t.progress)
	}
	if t.options.Batch != nil {
		t.options.Batch(t.memory(pieces, float64(samples)/float64(t.feature.SampleRate)))
	}
}

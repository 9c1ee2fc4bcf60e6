package recognize

import (
	"context"
	"fmt"
	"slices"

	"konkanitrain/internal/words"
	"konkanitrain/recognize/transcript"
)

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
	odd    [oddities]int       // recordings so far in which something is odd
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
	if !p.first { // else it begins where this recording is gone on with
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

// give gives a segment, if something is said in it. Pieces that say different things where they overlap may each have
// words on the other's side of the join: their times are held to the segment's.
func (t *transcribing) give(s transcript.Segment) error {
	if s.Text == "" {
		return nil
	}
	t.some = true
	if t.units {
		s.Words, s.Characters = hold(s.Words, s.Start, s.End), hold(s.Characters, s.Start, s.End)
	} else {
		s.Words, s.Characters = nil, nil
	}
	return t.out.Segment(s)
}

// hold is units with times from one moment to another.
func hold(units []transcript.Unit, from, to float64) []transcript.Unit {
	units = slices.Clone(units) // the others may be needed for the next join
	for i := range units {
		u := &units[i]
		u.Start, u.End = min(max(u.Start, from), to), min(max(u.End, from), to)
	}
	return units
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
	err := f.err
	if t.failed != nil {
		err = t.failed
	}
	if err == nil { // of silence there is no piece
		if err := t.begin(f); err != nil {
			return err
		}
	}
	last := t.held
	if err := t.flush(); err != nil {
		return err
	}
	if t.begun && !t.some && (last != nil || err == nil) { // it has a segment without a text
		nothing := transcript.Segment{End: float64(f.heard) / float64(t.feature.SampleRate)}
		if last != nil {
			nothing = *last
			nothing.Start = 0
		}
		if err := t.out.Segment(nothing); err != nil {
			return err
		}
	}
	t.begun, t.some, t.held, t.failed = false, false, nil, nil
	t.progress.Recordings++
	t.progress.Within, t.progress.Of = 0, 0
	ending := t.out.End(f.index, err)
	slices.Sort(f.warnings)
	for _, w := range f.warnings { // behind what was written, which may be on the same terminal
		t.options.Warn(w)
	}
	for _, o := range f.odd {
		if t.odd[o.oddity]++; t.odd[o.oddity] <= oddNamed {
			t.options.Warn(o.text)
		}
	}
	return ending
}

// oddNamed is how many recordings that are odd in one way are named; the others are counted.
const oddNamed = 5

// sayOdd counts those that weren't named.
func (t *transcribing) sayOdd() {
	for o, n := range t.odd {
		if n > oddNamed {
			t.options.Warn(fmt.Sprintf("%s more: %v", words.Count(n-oddNamed, "sound"), oddity(o)))
		}
	}
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

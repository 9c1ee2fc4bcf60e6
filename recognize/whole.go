package recognize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/audio"
	"konkanitrain/recognize/transcript"
	"konkanitrain/update"
)

// What needs a file as a whole, as its text is aligned with all of it, reads files in batches.

// hear is what is made of the rows of a window.
type hear = func(window []*data.Example) ([]heard, error)

// overFiles reads and recognizes the files of a queue, of which it fills in what is about the model.
func (m *Model) overFiles(ctx context.Context, q *queue, hear hear, emit func(Transcript) error) error {
	features := m.Description.Features
	features.Resampler = audio.NewResampler() // one set of kernels for all batches
	q.net, q.sampleRate, q.workers = m.Description.Network, features.SampleRate, m.workers()
	now, err := m.begin(ctx, q, features)
	for now != nil && err == nil {
		var next *batch
		if next, err = m.begin(ctx, q, features); err == nil {
			err = m.transcribe(ctx, now, next, hear, emit)
		}
		now.close()
		now = next
	}
	now.close()
	return err
}

// transcribe recognizes the files of a batch and emits what came out. Meanwhile those of the next batch are read, if
// there is room for both.
func (m *Model) transcribe(ctx context.Context, b, next *batch, hear hear, emit func(Transcript) error) error {
	results := map[*data.Utterance]Transcript{}
	inHand := []*batch{b}
	if next != nil && !b.alone && !next.alone {
		inHand = append(inHand, next)
	}
	m.count(inHand)
	for _, x := range inHand {
		if err := x.start(ctx); err != nil {
			return err
		}
	}
	if b.stream != nil {
		w, err := b.stream.Next()
		if err != nil {
			return err
		}
		warnings := b.loader.Warnings()
		slices.Sort(warnings) // they come in the order in which files were read
		for _, s := range append(warnings, longFiles(w.Examples)...) {
			fmt.Fprintln(m.log, "WARNING:", s)
		}
		if err := m.recognize(w.Examples, hear, results); err != nil {
			return err
		}
		w.Release()
	}
	for _, f := range b.files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r := Transcript{Err: f.Err}
		if f.Utterance != nil {
			r = results[f.Utterance]
		}
		r.Path = f.Path
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}

// long is the length, in seconds, from which on a file's own length is most of the time that it takes.
const long = 600

// longFiles says which files will take long, before they do.
func longFiles(examples []*data.Example) (warnings []string) {
	for _, x := range examples {
		if u := x.Utt; u.Duration >= long && x.Err == nil {
			warnings = append(warnings, fmt.Sprintf("%s: %.0f minutes are recognized at once, and time grows with the square of the length: "+
				"cut such a recording at its pauses", u.Path(), u.Duration/60))
		}
	}
	return warnings
}

// recognize fills in the results of examples. Those for which there is not enough memory even alone have an error.
func (m *Model) recognize(examples []*data.Example, hear hear, results map[*data.Utterance]Transcript) error {
	rows, err := hear(examples)
	if err != nil {
		return err
	}
	for i, x := range examples {
		var large *update.TooLarge
		switch {
		case errors.As(x.Err, &large):
			results[x.Utt] = Transcript{Err: fmt.Errorf("%s: %.0f s of sound are too long to be recognized at once: out of memory: %w; cut the file into pieces",
				x.Utt.Path(), x.Utt.Duration, large)}
		case x.Err != nil:
			results[x.Utt] = Transcript{Err: withoutLine(x.Err)}
		case rows[i].err != nil:
			results[x.Utt] = Transcript{Err: fmt.Errorf("%s: %w", x.Utt.Path(), rows[i].err)}
		default:
			results[x.Utt] = transcriptOf(x.Utt, rows[i].Segment)
		}
	}
	return nil
}

// transcriptOf is what was heard in an utterance as a part of its recording.
func transcriptOf(u *data.Utterance, s transcript.Segment) Transcript {
	s.Start, s.End = 0, u.Duration
	for _, list := range [][]transcript.Unit{s.Words, s.Characters} { // the last frame may reach beyond the end
		for i := range list {
			list[i].Start, list[i].End = min(list[i].Start, s.End), min(list[i].End, s.End)
		}
	}
	return Transcript{Path: u.Path(), Part: partID(u), Duration: u.Recording.Info.Seconds(), Segments: []transcript.Segment{s.Shift(u.Offset)}}
}

// withoutLine is a loader's error about a file without the line of a manifest that it begins with: there is none.
func withoutLine(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

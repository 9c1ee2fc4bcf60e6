package recognize

import (
	"context"
	"fmt"
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
	t.sayOdd()
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

package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/model"
)

// Said is a sound file and the text that is said in it.
type Said struct{ Path, Text string }

// Align finds where in files their texts were said, and gives words and characters with times to emit, in the order of
// the files: see [Model.Transcribe]. A confidence is the probability that the network gives to the text there. A text
// that is longer than its sound allows is an error of that file.
func (m *Model) Align(ctx context.Context, files []Said, emit func(Transcript) error) error {
	if err := m.SetDecoding(Decoding{Units: true}); err != nil {
		return err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	probed, err := data.Files(ctx, paths, m.Description.Features.SampleRate)
	if err != nil {
		return err
	}
	for i := range probed {
		u := probed[i].Utterance
		if u == nil {
			continue
		}
		u.Text = m.Description.Policy.Normalize(files[i].Text)
		var unknown text.Unknown
		switch ids := m.Description.Vocabulary.Encode(u.Text, &unknown); {
		case len(ids) == 0:
			fmt.Fprintf(m.log, "WARNING: %s: its text is empty: there is nothing to find\n", u.Path())
		case slices.Contains(ids, text.Unk):
			fmt.Fprintf(m.log, "WARNING: %s: the model can't write all of its text: %v: times and confidences are doubtful there\n", u.Path(), &unknown)
		}
	}
	return m.overFiles(ctx, &queue{probed: probed}, m.aligned(ctx), emit)
}

// aligned aligns the texts of a window's rows.
func (m *Model) aligned(ctx context.Context) hear {
	return func(window []*data.Example) ([]heard, error) {
		rows, _, err := m.recognizer.each(ctx, window, model.Transcribing, func(r *reader, x *data.Example, logits []float32) heard {
			return r.align(logits, x.Utt.Text)
		})
		return rows, err
	}
}

// AlignManifest is Align for the utterances of a manifest. Times are from the start of the recording that an utterance
// is a part of. The report says what became of every line.
func (m *Model) AlignManifest(ctx context.Context, manifest string, o EvaluateOptions, emit func(Transcript) error) (*data.Report, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if err := m.SetDecoding(Decoding{Units: true}); err != nil {
		return nil, err
	}
	set, loader, err := m.openManifests(ctx, []string{manifest}, o)
	if err != nil {
		return nil, err
	}
	stream, err := loader.Start(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	for {
		w, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rows, err := m.aligned(ctx)(w.Examples)
		if err != nil {
			return nil, err
		}
		for i, x := range w.Examples {
			t := transcriptOf(x.Utt, rows[i].Segment)
			if err := errors.Join(x.Err, rows[i].err); err != nil {
				t = Transcript{Path: x.Utt.Path(), Err: fmt.Errorf("%s (%s): %w", x.Utt.ID, data.Where(x.Utt.File, x.Utt.Line), err)}
			}
			if err := emit(t); err != nil {
				return nil, err
			}
		}
		w.Release()
	}
	for _, w := range loader.Warnings() {
		fmt.Fprintln(o.Progress, "WARNING:", w)
	}
	return set.Outcome(), nil
}

package recognize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/model"
	"konkanitrain/update"
)

// Recognizer decodes and scores over a replica. One goroutine uses it, and the replica, at a time.
type Recognizer struct {
	script  *script
	readers []*reader // of each worker; where the network's decoder is asked, of each search that goes on
	runner  *update.Runner
	run     runPass
	beside  int // cores that have nothing to do while the replica computes: of a machine with a card, all of them
}

// Share makes its passes fit the memory as others over the same replica do.
func (r *Recognizer) Share(f *update.Fit) { r.runner.Fit = f }

// runPass makes one pass over a window and returns its losses, which are valid until the next call.
type runPass = func(ctx context.Context, window []*data.Example, ask update.Ask) ([]update.Loss, error)

// New recognizes with a network whose weights are in a replica, in micro-batches of at most batchSize utterances.
// Recognized text is written by the policy.
func New(net model.Config, r update.Replica, batchSize int, t text.Tokenizer, p text.Policy) *Recognizer {
	runner := update.NewRunner(net, r, batchSize)
	run := func(_ context.Context, window []*data.Example, ask update.Ask) ([]update.Loss, error) {
		return runner.Run(window, ask)
	}
	rec := &Recognizer{runner: runner, run: run}
	s := script{tokenizer: t, policy: p, net: net, size: net.Vocab, frame: frameShift * float64(net.Subsampling)}
	_ = rec.use(s) // greedy decoding needs nothing
	return rec
}

// use reads texts by a script from now on.
func (r *Recognizer) use(s script) error {
	readers, err := r.newReaders(&s)
	if err != nil {
		return err
	}
	r.script, r.readers = &s, readers
	return nil
}

// searchesPerWorker is how many searches with the network's decoder go on for each worker: while some of them look
// through frames, there are steps to make for the others.
const searchesPerWorker = 2

// newReaders makes readers for all workers.
func (r *Recognizer) newReaders(s *script) ([]*reader, error) {
	n := r.runner.Replica.Wishes().Workers
	if s.asksDecoder() {
		n *= searchesPerWorker
	}
	if !s.greedy() {
		n = max(n, r.beside)
	}
	readers := make([]*reader, n)
	for i := range readers {
		var err error
		if readers[i], err = newReader(s); err != nil {
			return nil, err
		}
	}
	return readers, nil
}

// MeasureConfidences has words read beside texts, with their times and confidences, for a [Judge].
func (r *Recognizer) MeasureConfidences() error {
	s := *r.script
	s.Units = true
	var err error
	if s.fusion == nil {
		s.fusion, err = s.load(s.tokenizer, s.policy, func(string) {}) // of files it would be told
	}
	if err == nil {
		err = r.use(s)
	}
	return err
}

// ConfidenceBytes is the most that so many workers hold to read texts and confidences, greedily, out of utterances of
// so many feature frames.
func ConfidenceBytes(net model.Config, workers, featureFrames int) int64 {
	s := &script{Decoding: Decoding{Units: true}, size: net.Vocab}
	r, _ := newReader(s) // greedy decoding needs nothing
	return int64(workers) * r.Bytes(model.Shape{Frames: featureFrames}.Encoded(net))
}

// Bytes is the most that readers hold for utterances of so many feature frames, of which so many are in hand.
func (r *Recognizer) Bytes(featureFrames, utterances int) int64 {
	net := r.runner.Net
	s := model.Shape{Frames: featureFrames}.Encoded(net)
	sum := int64(len(r.readers)) * r.readers[0].Bytes(s)
	if r.keeps() {
		sum += 4 * int64(utterances) * int64(s) * int64(net.Vocab+2*net.DecoderLayers*net.DModel)
	}
	return sum
}

// Score scores every utterance that the loader gives, in its order. emit, if set, gets each result; its error, or the
// context's cause, ends the scoring.
func (r *Recognizer) Score(ctx context.Context, loader *data.Loader, emit func(Hypothesis) error) (*Evaluation, error) {
	start := time.Now()
	stream, err := loader.Start(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	t := tally{weight: 1}
	if net := r.runner.Net; net.DecoderLayers > 0 {
		t.weight = Nats(net.CTCWeight)
	}
	for {
		w, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		decoded, losses, err := r.decode(ctx, w.Examples, model.Scoring)
		if err != nil {
			return nil, err
		}
		for i, x := range w.Examples {
			if err := decoded[i].err; err != nil && x.Err == nil {
				x.Err = fmt.Errorf("%s: %w", x.Utt.ID, err)
			}
			h := t.add(x, decoded[i], losses[i])
			if emit == nil {
				continue
			}
			if err := emit(h); err != nil {
				return nil, err
			}
		}
		w.Release()
	}
	e := t.evaluation()
	e.Took = time.Since(start).Seconds()
	return e, nil
}

// keeps says whether what the network says of a window is kept, and searched when the pass has ended: where its decoder
// is asked, and where there are more readers than workers.
func (r *Recognizer) keeps() bool { return len(r.readers) > r.runner.Replica.Wishes().Workers }

// decode runs a window through the network and reads the text of each row, "" where its file could not be read.
func (r *Recognizer) decode(ctx context.Context, window []*data.Example, p model.Purpose) ([]heard, []update.Loss, error) {
	if !r.keeps() {
		return r.each(ctx, window, p, func(r *reader, _ *data.Example, logits []float32) heard { return r.read(logits) })
	}
	all, texts := make([]*listened, len(window)), make([]heard, len(window))
	losses, err := r.listen(ctx, window, p, all, func() error { return r.search(ctx, r.readers, all, texts) })
	if err != nil {
		return nil, nil, err
	}
	return texts, losses, nil
}

// listen keeps what the network says of each row that there is in all, with what its decoder's steps read where that is
// asked, and calls then, which may make steps and may be nil.
func (r *Recognizer) listen(ctx context.Context, window []*data.Example, p model.Purpose, all []*listened, then func() error) ([]update.Loss, error) {
	ask := update.Ask{Purpose: p, Then: then, Logits: func(_, row int, logits []float32) {
		if all[row] == nil {
			all[row] = &listened{}
		}
		u := all[row]
		u.said, u.frames, u.logits = window[row].Utt.Text, window[row].Frames, slices.Clone(logits)
	}}
	if r.script.asksDecoder() {
		if p == model.Transcribing {
			ask.Purpose = model.Listening
		}
		ask.Memory = func(_, row int, memory []update.Memory) {
			all[row] = &listened{}
			for _, m := range memory {
				all[row].memory = append(all[row].memory, update.Memory{Keys: slices.Clone(m.Keys), Values: slices.Clone(m.Values)})
			}
		}
	}
	return r.run(ctx, window, ask)
}

// each runs a window through the network; a worker's reader makes something of each row that there is.
func (r *Recognizer) each(ctx context.Context, window []*data.Example, p model.Purpose, read readRow) ([]heard, []update.Loss, error) {
	rows := make([]heard, len(window)) // each is written by one worker
	losses, err := r.run(ctx, window, update.Ask{
		Purpose: p, Logits: func(worker, row int, logits []float32) { rows[row] = read(r.readers[worker], window[row], logits) },
	})
	if err != nil {
		return nil, nil, err
	}
	return rows, losses, nil
}

// readRow is what a reader makes of the logits [S, V] of an utterance.
type readRow = func(r *reader, x *data.Example, logits []float32) heard

// tally adds up what a set comes to.
type tally struct {
	weight         Nats // of CTC in the loss
	sum            Evaluation
	blanks, frames int
}

// add counts one utterance.
func (t *tally) add(x *data.Example, d heard, l update.Loss) Hypothesis {
	h := Hypothesis{Utt: x.Utt, Ref: x.Utt.Text, Text: d.Text, Segment: d.Segment, Loss: l.Total, Infeasible: l.Infeasible, Err: x.Err}
	e := &t.sum
	if x.Err != nil {
		e.Failed++
		e.FailedWords += len(strings.Fields(h.Ref))
		e.FailedChars += utf8.RuneCountInString(h.Ref)
		e.failures = append(e.failures, x.Err.Error())
		return h
	}
	var one text.Score
	one.Add(h.Ref, h.Text)
	h.Words, h.Chars = one.Words, one.Chars
	e.Score.Merge(&one)
	e.Loss += Nats(l.Total)
	e.CTC += Nats(l.CTC)
	e.CE += Nats(l.CE)
	if !finite(h.Loss) {
		e.NonFinite++
		e.nonFinite = append(e.nonFinite, x.Utt.ID)
	}
	if l.Infeasible {
		e.Infeasible++
	}
	e.Audio += x.Utt.Duration
	t.blanks += d.blanks
	t.frames += d.frames
	return h
}

// evaluation is what all utterances together come to.
func (t *tally) evaluation() *Evaluation {
	e := &t.sum
	n := Nats(e.Score.Utterances) // of none the mean is no number
	e.Loss, e.CTC, e.CE = e.Loss/n, e.CTC/n, e.CE/n
	if e.Infeasible > 0 {
		without := e.CTC
		e.CTC *= n / (n - Nats(e.Infeasible))
		e.Loss += t.weight * (e.CTC - without)
	}
	e.WER, e.CER = e.Score.WER(), e.Score.CER()
	if t.frames > 0 {
		e.BlankShare = float64(t.blanks) / float64(t.frames)
	}
	return e
}

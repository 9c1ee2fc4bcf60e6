package recognize

import (
	"context"
	"errors"
	"io"
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
	tokenizer text.Tokenizer
	policy    text.Policy
	size      int // V, of the network
	runner    *update.Runner
	run       runPass
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
	return &Recognizer{tokenizer: t, policy: p, size: net.Vocab, runner: runner, run: run}
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

// decode runs a window through the network and reads the text of each row, "" where its file could not be read.
func (r *Recognizer) decode(ctx context.Context, window []*data.Example, p model.Purpose) ([]decoded, []update.Loss, error) {
	rows := make([]decoded, len(window)) // each is written by one worker
	losses, err := r.run(ctx, window, update.Ask{
		Purpose: p, Logits: func(row int, logits []float32) { rows[row] = r.greedy(logits) },
	})
	if err != nil {
		return nil, nil, err
	}
	return rows, losses, nil
}

// decoded is the greedy CTC path of one utterance.
type decoded struct {
	text           string
	blanks, frames int
}

// greedy is the best path (Graves et al. 2006, section 3.2): the likeliest label of each frame, repeats merged, blanks
// dropped. logits [S, V].
func (r *Recognizer) greedy(logits []float32) decoded {
	ids := make([]int32, len(logits)/r.size)
	for t := range ids {
		best := 0
		row := logits[t*r.size:][:r.size]
		for i, x := range row {
			if x > row[best] {
				best = i
			}
		}
		ids[t] = int32(best)
	}
	hyp := r.policy.Normalize(r.tokenizer.Decode(text.Collapse(nil, ids)))
	return decoded{text: hyp, blanks: text.Blanks(ids), frames: len(ids)}
}

// tally adds up what a set comes to.
type tally struct {
	weight         Nats // of CTC in the loss
	sum            Evaluation
	blanks, frames int
}

// add counts one utterance.
func (t *tally) add(x *data.Example, d decoded, l update.Loss) Hypothesis {
	h := Hypothesis{Utt: x.Utt, Ref: x.Utt.Text, Text: d.text, Loss: l.Total, Infeasible: l.Infeasible, Err: x.Err}
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

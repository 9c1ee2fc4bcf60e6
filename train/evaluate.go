package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"konkanitrain/data"
	"konkanitrain/data/text"
)

// Evaluation is how well a model does on a set.
type Evaluation struct {
	Loss float64 `json:"loss"` // nats, mean over utterances
	CTC  float64 `json:"ctc"`
	CE   float64 `json:"ce"` // 0 without a decoder
	WER  float64 `json:"wer"`
	CER  float64 `json:"cer"`

	Score      text.Score `json:"score"`       // error counts: totals over totals, never means of rates
	BlankShare float64    `json:"blank_share"` // of all frames
	Audio      float64    `json:"audio"`       // seconds of sound
	Took       float64    `json:"took"`        // seconds
	Infeasible int        `json:"infeasible"`  // utterances without a CTC alignment: their CTC loss counts 0
	Failed     int        `json:"failed"`      // files that could not be read any more: scored as empty output
}

// better says whether e beats other: by words, then characters, then loss.
func (e *Evaluation) better(other *Evaluation) bool {
	if other == nil {
		return true
	}
	a, b := [3]float64{e.WER, e.CER, e.Loss}, [3]float64{other.WER, other.CER, other.Loss}
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// String is one line with the counts behind the rates.
func (e *Evaluation) String() string {
	w, c := e.Score.Words, e.Score.Chars
	s := fmt.Sprintf("WER %.2f %% (%d of %d words)  CER %.2f %% (%d of %d)  exact %d of %d  loss %.4f  blanks %.0f %%",
		100*e.WER, w.Errors(), w.Ref, 100*e.CER, c.Errors(), c.Ref, e.Score.Exact, e.Score.Utterances, e.Loss, 100*e.BlankShare)
	if e.Infeasible > 0 {
		s += fmt.Sprintf("  %d too short for CTC", e.Infeasible)
	}
	if e.Failed > 0 {
		s += fmt.Sprintf("  %d files failed", e.Failed)
	}
	return s
}

// Hypothesis is what a model makes of one utterance.
type Hypothesis struct {
	Utt          *data.Utterance
	Ref, Text    string
	Words, Chars text.Counts
	Loss         float64 // nats
	Err          error   // the file could not be read
}

// speech is a core with what it takes to go from text to tokens and from logits to text.
type speech struct {
	*core
	vocab  *text.Vocabulary
	policy text.Policy
}

// decoded is the greedy CTC path of one utterance.
type decoded struct {
	text           string
	blanks, frames int
}

// evaluate scores every utterance that the loader gives, in its order. emit, if set, gets each result.
func (s *speech) evaluate(ctx context.Context, loader *data.Loader, batchSize int, emit func(Hypothesis) error) (*Evaluation, error) {
	start := time.Now()
	run, err := loader.Run(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	e := &Evaluation{}
	blanks, frames := 0, 0
	for {
		w, err := run.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		p := &pass{losses: make([]rowLoss, len(w.Examples))}
		paths := make([]decoded, len(w.Examples))
		p.logits = func(row int, logits []float32) { paths[row] = s.greedy(logits) }
		if err := s.run(w.Examples, deal(w.Examples, s.net, batchSize, len(s.crew.Workers)), p); err != nil {
			return nil, err
		}
		for i, x := range w.Examples {
			h := Hypothesis{Utt: x.Utt, Ref: x.Utt.Text, Text: paths[i].text, Loss: p.losses[i].total, Err: x.Err}
			var one text.Score
			one.Add(h.Ref, h.Text)
			h.Words, h.Chars = one.Words, one.Chars
			e.Score.Merge(&one)
			e.Loss += p.losses[i].total
			e.CTC += p.losses[i].ctc
			e.CE += p.losses[i].ce
			e.Audio += x.Utt.Duration
			blanks += paths[i].blanks
			frames += paths[i].frames
			if p.losses[i].infeasible {
				e.Infeasible++
			}
			if x.Err != nil {
				e.Failed++
			}
			if emit != nil {
				if err := emit(h); err != nil {
					return nil, err
				}
			}
		}
		w.Release()
	}
	if n := float64(e.Score.Utterances); n > 0 {
		e.Loss, e.CTC, e.CE = e.Loss/n, e.CTC/n, e.CE/n
	}
	e.WER, e.CER = e.Score.WER(), e.Score.CER()
	if frames > 0 {
		e.BlankShare = float64(blanks) / float64(frames)
	}
	e.Took = time.Since(start).Seconds()
	return e, nil
}

// greedy is the best path: the likeliest label of each frame, repeats merged, blanks dropped. logits [S, V].
func (s *speech) greedy(logits []float32) decoded {
	v := s.net.Vocab
	ids := make([]int32, len(logits)/v)
	blanks := 0
	for t := range ids {
		best := 0
		row := logits[t*v:][:v]
		for i, x := range row {
			if x > row[best] {
				best = i
			}
		}
		ids[t] = int32(best)
		if ids[t] == text.Blank {
			blanks++
		}
	}
	hyp := s.policy.Normalise(s.vocab.Decode(text.Collapse(nil, ids)))
	return decoded{text: hyp, blanks: blanks, frames: len(ids)}
}

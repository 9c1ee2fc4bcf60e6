package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"konkanitrain/data"
	"konkanitrain/data/text"
)

// Evaluation is how well a model does on a set.
type Evaluation struct {
	Loss Nats    `json:"loss"` // mean over the utterances that were read
	CTC  Nats    `json:"ctc"`
	CE   Nats    `json:"ce"` // 0 without a decoder
	WER  float64 `json:"wer"`
	CER  float64 `json:"cer"`

	Score      text.Score `json:"score"`                // error counts: totals over totals, never means of rates
	BlankShare float64    `json:"blank_share"`          // of all frames
	Audio      float64    `json:"audio"`                // seconds of sound
	Took       float64    `json:"took"`                 // seconds
	Infeasible int        `json:"infeasible"`           // utterances without a CTC alignment: their CTC loss counts 0
	Failed     int        `json:"failed"`               // files that could not be read any more: scored as empty output
	NonFinite  int        `json:"non_finite,omitempty"` // utterances whose loss is no finite number; Loss is none then

	broken []string // the ids of these
	failed []string // what went wrong with the files
}

// Nats is a loss in nats. JSON has no number for what isn't finite: that is null there, and NaN when it is read.
type Nats float64

// MarshalJSON writes a number, or null.
func (n Nats) MarshalJSON() ([]byte, error) {
	if notFinite(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads a number, or null.
func (n *Nats) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Nats(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// deaf says that not one file could be read: the scores say nothing about the model.
func (e *Evaluation) deaf() bool { return e.Failed > 0 && e.Failed == e.Score.Utterances }

// better says whether e beats other: by words, then characters, then loss; any finite loss beats one that isn't.
func (e *Evaluation) better(other *Evaluation) bool {
	if other == nil {
		return true
	}
	loss := func(e *Evaluation) float64 {
		if notFinite(float64(e.Loss)) {
			return math.Inf(1)
		}
		return float64(e.Loss)
	}
	a, b := [3]float64{e.WER, e.CER, loss(e)}, [3]float64{other.WER, other.CER, loss(other)}
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
	if e.NonFinite > 0 {
		s += fmt.Sprintf("  %d without a finite loss", e.NonFinite)
	}
	if e.Failed > 0 {
		s += fmt.Sprintf("  %s failed", count(e.Failed, "file"))
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
			e.Loss += Nats(p.losses[i].total)
			e.CTC += Nats(p.losses[i].ctc)
			e.CE += Nats(p.losses[i].ce)
			if notFinite(h.Loss) {
				e.NonFinite++
				e.broken = append(e.broken, x.Utt.ID)
			}
			e.Audio += x.Utt.Duration
			blanks += paths[i].blanks
			frames += paths[i].frames
			if p.losses[i].infeasible {
				e.Infeasible++
			}
			if x.Err != nil {
				e.Failed++
				e.failed = append(e.failed, x.Err.Error())
			}
			if emit != nil {
				if err := emit(h); err != nil {
					return nil, err
				}
			}
		}
		w.Release()
	}
	if e.Score.Utterances > 0 {
		n := Nats(e.Score.Utterances - e.Failed) // of none the mean is no number
		e.Loss, e.CTC, e.CE = e.Loss/n, e.CTC/n, e.CE/n
	}
	e.WER, e.CER = e.Score.WER(), e.Score.CER()
	if frames > 0 {
		e.BlankShare = float64(blanks) / float64(frames)
	}
	e.Took = time.Since(start).Seconds()
	return e, nil
}

// troubles is what must be said of a set that was scored: files that could not be read, losses that are not finite.
func (e *Evaluation) troubles(set string) (said []string) {
	if e.Failed > 0 {
		said = append(said, fmt.Sprintf("WARNING: %s of %s can't be read any more and scored as empty output: %s",
			count(e.Failed, "file"), set, list(e.failed, 5)))
	}
	if e.NonFinite > 0 {
		said = append(said, fmt.Sprintf("ALARM: the loss of %d of %d utterances of %s is not a finite number: %s. Either the weights have grown beyond all "+
			"measure (look at the training loss, lower learning_rate), or these files hold no proper sound",
			e.NonFinite, e.Score.Utterances, set, list(e.broken, 5)))
	}
	return said
}

// greedy is the best path: the likeliest label of each frame, repeats merged, blanks dropped. logits [S, V].
func (s *speech) greedy(logits []float32) decoded {
	v := s.net.Vocab
	ids := make([]int32, len(logits)/v)
	for t := range ids {
		best := 0
		row := logits[t*v:][:v]
		for i, x := range row {
			if x > row[best] {
				best = i
			}
		}
		ids[t] = int32(best)
	}
	hyp := s.policy.Normalise(s.vocab.Decode(text.Collapse(nil, ids)))
	return decoded{text: hyp, blanks: text.Blanks(ids), frames: len(ids)}
}

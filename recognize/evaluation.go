package recognize

import (
	"encoding/json"
	"fmt"
	"math"

	"konkanitrain/data"
	"konkanitrain/data/text"
	"konkanitrain/internal/words"
	"konkanitrain/recognize/transcript"
)

// Evaluation is how well a model does on a set. Losses and rates are over the utterances whose files could be read; the
// others are counted in Failed.
type Evaluation struct {
	Loss Nats    `json:"loss"` // of CTC and CE, by CTC's weight
	CTC  Nats    `json:"ctc"`  // mean over utterances that have an alignment
	CE   Nats    `json:"ce"`   // mean over utterances; 0 without a decoder
	WER  float64 `json:"wer"`
	CER  float64 `json:"cer"`

	Score      text.Score `json:"score"`                // error counts: totals over totals, never means of rates
	BlankShare float64    `json:"blank_share"`          // of all frames
	Audio      float64    `json:"audio"`                // seconds of sound
	Took       float64    `json:"took"`                 // seconds
	Infeasible int        `json:"infeasible"`           // utterances without a CTC alignment, and so without a CTC loss
	NonFinite  int        `json:"non_finite,omitempty"` // utterances whose loss is no finite number; Loss is none then

	// Confidences is what a validation in training says of them; nil elsewhere.
	Confidences *Confidences `json:"confidences,omitempty"`

	Failed      int `json:"failed"`                 // files that could not be read: left out of everything above
	FailedWords int `json:"failed_words,omitempty"` // of their texts
	FailedChars int `json:"failed_chars,omitempty"`

	nonFinite []string // the ids of these
	failures  []string // what went wrong with the files
}

// Nats is a loss in nats. JSON has no number for what isn't finite: that is null there, and NaN when it is read.
type Nats float64

// MarshalJSON writes a number, or null.
func (n Nats) MarshalJSON() ([]byte, error) {
	if !finite(float64(n)) {
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

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// NothingRead says that not one file could be read: the scores say nothing about the model.
func (e *Evaluation) NothingRead() bool { return e.Failed > 0 && e.Score.Utterances == 0 }

// String is one line with the counts behind the rates.
func (e *Evaluation) String() string {
	w, c := e.Score.Words, e.Score.Chars
	s := fmt.Sprintf("WER %.2f %% (%d of %d words)  CER %.2f %% (%d of %d)  exact %d of %d  loss %.4f  blanks %.0f %%",
		100*e.WER, w.Errors(), w.Ref, 100*e.CER, c.Errors(), c.Ref, e.Score.Exact, e.Score.Utterances, e.Loss, 100*e.BlankShare)
	if p := e.Score.Plain; p != nil {
		s += fmt.Sprintf("  without punctuation WER %.2f %% CER %.2f %%", 100*p.Words.Rate(), 100*p.Chars.Rate())
	}
	if e.Infeasible > 0 {
		s += fmt.Sprintf("  %d too short for CTC", e.Infeasible)
	}
	if e.NonFinite > 0 {
		s += fmt.Sprintf("  %d without a finite loss", e.NonFinite)
	}
	if e.Failed > 0 {
		s += fmt.Sprintf("  %s failed", words.Count(e.Failed, "file"))
	}
	return s
}

// named is how many files or utterances a message names.
const named = 5

// Troubles is what must be said of a set that was scored: files that could not be read or did not fit, losses that are
// not finite. set is its name in the messages.
func (e *Evaluation) Troubles(set string) (said []string) {
	if e.Failed > 0 {
		said = append(said, fmt.Sprintf("WARNING: %s of %s can't be read any more or doesn't fit into memory, and the rates are without what is in there: %s",
			words.Count(e.Failed, "file"), set, words.List(e.failures, named)))
	}
	if e.NonFinite > 0 {
		said = append(said, fmt.Sprintf("ALARM: the loss of %d of %d utterances of %s is not a finite number: %s. "+
			"Either the weights have grown beyond all measure (look at the training loss, lower learning_rate), "+
			"or these files hold no proper sound", e.NonFinite, e.Score.Utterances, set, words.List(e.nonFinite, named)))
	}
	return said
}

// Hypothesis is what a model makes of one utterance.
type Hypothesis struct {
	Utt          *data.Utterance
	Ref, Text    string
	Words, Chars text.Counts
	Loss         float64            // nats
	Infeasible   bool               // it is too short for its text: CTC is no part of Loss
	Segment      transcript.Segment // Text, with what else [Decoding] asks for
	Err          error              // the file could not be read: there is no text, and nothing is counted
}

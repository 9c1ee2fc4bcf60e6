package scores

import (
	"encoding/json"
)

// Validation is what a run records of a validation in validations.jsonl, behind "event" and "time".
type Validation struct {
	Update     int         `json:"update"`
	Weights    string      `json:"weights,omitempty"` // what was scored in place of the weights: "moving averages"
	Utterances int         `json:"utterances"`        // scored
	Wrong      int         `json:"wrong"`             // of them, those with an error
	Failed     int         `json:"failed"`            // files that could not be read
	Rates      Histograms  `json:"histogram"`         // of the utterances' error rates: see Histogram
	Worst      []Utterance `json:"worst"`             // the worst first
}

// most is the most bytes that the worst utterances of a record take as JSON. Of very long texts there are fewer then.
const most = 64 << 10

// Summary makes a Validation while a set is scored.
type Summary struct {
	sum   Validation
	worst *Worst
}

// NewSummary lists at most so many of the worst utterances.
func NewSummary(most int) *Summary { return &Summary{worst: NewWorst(most)} }

// Add shows it the next utterance that was scored.
func (s *Summary) Add(u Utterance) {
	s.sum.Utterances++
	if u.Words.Errors()+u.Chars.Errors() > 0 {
		s.sum.Wrong++
	}
	s.sum.Rates.Add(&u)
	s.worst.Add(u)
}

// Fail counts an utterance whose file could not be read.
func (s *Summary) Fail() { s.sum.Failed++ }

// Validation is what the set has come to, after this update; weights is "" or what was scored in their place.
func (s *Summary) Validation(update int, weights string) (Validation, error) {
	v := s.sum
	v.Update, v.Weights, v.Worst = update, weights, []Utterance{}
	bytes := 0
	for _, u := range s.worst.List() {
		b, err := json.Marshal(u)
		if err != nil {
			return v, err
		}
		if bytes += len(b) + 1; bytes > most {
			break
		}
		v.Worst = append(v.Worst, u)
	}
	return v, nil
}

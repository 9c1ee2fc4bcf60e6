package scores

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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

// ReadValidations reads the records of a run from validations.jsonl, in their order: those since the run began, without
// those that a resumed session has made anew. run is what the records of this run have as "run"; "" where it has the
// file for itself. Lines that are no records, or only parts of one, are passed over.
func ReadValidations(r io.Reader, run string) ([]Validation, error) {
	list := []Validation{}
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("validations: %w", err)
		}
		var l struct {
			Event, Run, From string
			ResumedAt        *int `json:"resumed_at"`
			Validation
		}
		switch wrong := json.Unmarshal(text, &l); {
		case wrong != nil || l.Run != run:
		case l.Event == "start" && (l.ResumedAt == nil || l.From != ""):
			list = list[:0]
		case l.Event == "start":
			list = before(list, *l.ResumedAt)
		case l.Event == "validation":
			list = append(list, l.Validation)
		}
		if err == io.EOF {
			return list, nil
		}
	}
}

// before leaves out what is behind an update.
func before(list []Validation, update int) []Validation {
	kept := list[:0]
	for _, v := range list {
		if v.Update <= update {
			kept = append(kept, v)
		}
	}
	return kept
}

package watch

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// view is what part of the histories a viewer wants to see, and how finely.
type view struct {
	points   int // of a curve, at most
	from, to int // updates
}

// runState is what is said of a run beside its curves.
type runState struct {
	Name       string    `json:"name"`
	Live       bool      `json:"live"`  // it is in progress
	Ended      bool      `json:"ended"` // all of its updates are made
	Wrong      string    `json:"wrong,omitempty"`
	Update     int       `json:"update"`
	Total      int       `json:"total"` // 0: not known
	Epoch      int       `json:"epoch"`
	Epochs     int       `json:"epochs"`
	Parameters int       `json:"parameters"`
	Skipped    int       `json:"skipped"`
	Time       time.Time `json:"time"`  // of the last record
	Left       *float64  `json:"left"`  // seconds from then on; null: not known
	Hours      float64   `json:"hours"` // of training
	Saved      string    `json:"saved,omitempty"`
	Last       *score    `json:"last"` // validation
	Best       *score    `json:"best"`
	Test       *score    `json:"test"`
	Validated  int       `json:"validated"` // validations whose worst utterances can be seen
}

// score is a validation, or the test.
type score struct {
	Update int      `json:"update"`
	Loss   *float64 `json:"loss"`
	WER    *float64 `json:"wer"`
	CER    *float64 `json:"cer"`
	What   string   `json:"weights,omitempty"`
	best   bool     // so far, of a validation
}

// state is what is said of a run now.
func (r *shown) state() runState {
	h := r.history
	s := runState{
		Name: r.Name, Live: r.info != nil, Ended: h.ended(), Wrong: r.wrong, Update: h.last.Update, Total: h.start.Total, Epoch: h.last.Epoch,
		Epochs: h.start.Config.Epochs, Parameters: h.start.Parameters, Skipped: h.last.Skipped, Time: h.last.Time, Hours: h.trained.trained(),
		Saved: h.saved, Last: h.scored(), Best: h.best(), Test: h.test, Validated: len(r.validations.places),
	}
	if h.last.Update == 0 {
		s.Update, s.Time = h.start.Update, h.start.Time
	}
	if left, known := h.left(); known && s.Live {
		s.Left = &left
	}
	return s
}

// appendState writes all runs as JSON: {"runs": [{..., "training": curves, "validation": curves}]}.
func appendState(b []byte, runs []*shown, v view) ([]byte, error) {
	b = append(b, `{"runs":[`...)
	for i, r := range runs {
		if i > 0 {
			b = append(b, ',')
		}
		text, err := json.Marshal(r.state())
		if err != nil {
			return nil, err
		}
		b = append(b, text[:len(text)-1]...)
		b = append(b, `,"training":`...)
		b = appendCurves(b, r.history.trained, figures, v)
		b = append(b, `,"validation":`...)
		b = appendCurves(b, r.history.valid, rates, v)
		b = append(b, '}')
	}
	return append(b, "]}"...), nil
}

// appendCurves writes the part of a series that is wanted, column by column: update, hours and, for each figure that is
// known anywhere, mean, and low and high where these differ from it.
func appendCurves(b []byte, s *series, names []string, v view) []byte {
	begin, end := s.span(v.from, v.to)
	p := s.view(begin, end, v.points)
	n := len(p.last)
	b = append(b, `{"update":[`...)
	for i, u := range p.last {
		b = strconv.AppendInt(comma(b, i), int64(u), 10)
	}
	b = append(b, `],"hours":[`...)
	for i, h := range p.hours {
		b = appendNumber(comma(b, i), float32(h))
	}
	b = append(b, ']')
	for k, name := range names {
		some, spread := false, false
		for i := range n {
			at := i*s.width + k
			some = some || finite(p.mean[at])
			spread = spread || p.low[at] < p.high[at]
		}
		if !some {
			continue
		}
		b = append(b, `,"`...)
		b = append(b, name...)
		b = append(b, `":{"mean":`...)
		b = appendColumn(b, p.mean, k, s.width)
		if spread {
			b = appendColumn(append(b, `,"low":`...), p.low, k, s.width)
			b = appendColumn(append(b, `,"high":`...), p.high, k, s.width)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendColumn(b []byte, values []float32, k, width int) []byte {
	b = append(b, '[')
	for i := k; i < len(values); i += width {
		b = appendNumber(comma(b, i/width), values[i])
	}
	return append(b, ']')
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

const digits = 5 // of a number that is drawn

// appendNumber writes a number, or null for what is none.
func appendNumber(b []byte, x float32) []byte {
	if !finite(x) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(x), 'g', digits, 32)
}

func finite(x float32) bool { return !isNaN(x) && !math.IsInf(float64(x), 0) }

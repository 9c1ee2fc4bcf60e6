package watch

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"
)

// figures are those of an update record that are drawn, in the order of training's columns.
var figures = []string{"loss", "ctc", "ce", "learning_rate", "grad_norm", "utterances_per_second", "real_time", "wait_share", "memory", "memory_peak"}

// rates are those of a validation.
var rates = []string{"loss", "wer", "cer", "blank_share"}

const (
	mostPoints      = 16 << 10 // of a run's updates
	mostValidations = 2 << 10
	scoreBytes      = 192 // of a *score and its figures
)

// pointBytes is what a point of this many figures takes.
func pointBytes(figures int) int64 { return int64(4*8 + 3*4*figures) }

// history is what metrics.jsonl says of one run.
type history struct {
	run     string // its name in the file, "" where the file is its own
	tail    tail
	trained *series // by update
	valid   *series // by validation
	version int     // goes up whenever something is known that wasn't

	start  startRecord  // of the newest session
	last   updateRecord // of update 0 where there is none
	scores []*score     // of validations, by update: the last ones, and the best
	test   *score       // nil before the end
	saved  string
}

func newHistory(dir, run string) *history {
	h := &history{run: run, tail: tail{path: filepath.Join(dir, metricsFile)}}
	h.renew()
	return h
}

const metricsFile = "metrics.jsonl"

// record is what each record has.
type record struct {
	Event string
	Time  time.Time
	Run   string
}

// startRecord begins a session.
type startRecord struct {
	record
	Update     int
	Total      int // updates at the end of the run; 0: not known
	Parameters int
	Workers    int
	ResumedAt  *int   `json:"resumed_at"`
	LoggedAt   *int   `json:"logged_at"`
	From       string // a checkpoint of another folder
	Config     struct {
		Epochs int `json:"num_epochs"`
		Sorted int `json:"sort_first_epochs"`
	}
}

// updateRecord is one or more updates.
type updateRecord struct {
	record
	Update, Epoch  int
	Loss, CTC, CE  *float64
	LearningRate   *float64 `json:"learning_rate"`
	GradNorm       *float64 `json:"grad_norm"`
	Utterances     float64
	Seconds, Audio float64
	WaitShare      *float64 `json:"wait_share"`
	Skipped        int
	Memory         struct{ Allocated, Peak, Total *float64 }
}

// scoreRecord is a validation, or the test set's score.
type scoreRecord struct {
	record
	Update     int
	Loss       *float64
	WER, CER   *float64
	BlankShare *float64 `json:"blank_share"`
	Weights    string
	Best       bool // so far, as the run decides it; older records don't say
}

// renew forgets all that was read.
func (h *history) renew() {
	*h = history{run: h.run, tail: h.tail, version: h.version + 1,
		trained: newSeries(len(figures), mostPoints), valid: newSeries(len(rates), mostValidations)}
}

// read takes up what is new in the file.
func (h *history) read() error {
	return h.tail.next(h.renew, func(_ int64, text []byte) {
		var u updateRecord
		if !bytes.HasPrefix(text, updateHead) {
			h.other(text)
		} else if json.Unmarshal(text, &u) == nil && u.Run == h.run { // nearly all lines: parsed once
			h.update(u)
		}
	})
}

var updateHead = []byte(`{"event":"update",`)

// other takes up a line that doesn't begin as an update's record does. One that was cut is none.
func (h *history) other(text []byte) {
	var r record
	if json.Unmarshal(text, &r) != nil || r.Run != h.run {
		return
	}
	switch r.Event {
	case "start":
		take(text, h.begin)
	case "update":
		take(text, h.update)
	case "validation", "test":
		take(text, h.score)
	case "save":
		take(text, func(s struct{ Path string }) { h.saved = s.Path })
	}
	h.version++
}

func take[T any](text []byte, use func(T)) {
	var record T
	if json.Unmarshal(text, &record) == nil {
		use(record)
	}
}

// begin takes up a session: a new run, or one that goes on.
func (h *history) begin(s startRecord) {
	if s.ResumedAt == nil || s.From != "" { // what is before it is an earlier run's
		h.renew()
	} else { // what could not be removed then
		logged := *s.ResumedAt
		if s.LoggedAt != nil {
			logged = *s.LoggedAt
		}
		h.trained.cut(logged)
		h.valid.cut(*s.ResumedAt)
		h.scores = slices.DeleteFunc(h.scores, func(x *score) bool { return x.Update > *s.ResumedAt })
		if h.test = nil; h.last.Update > logged {
			h.last = updateRecord{}
		}
	}
	h.start = s
}

// update takes up an update record. One that is no later than the last is passed over: curves go on in one direction.
func (h *history) update(u updateRecord) {
	if n := len(h.trained.last); n > 0 && u.Update <= h.trained.last[n-1] {
		return
	}
	h.last, h.version = u, h.version+1
	h.trained.add(u.Update, h.trained.trained()+u.Seconds/3600, []float32{
		value(u.Loss), value(u.CTC), value(u.CE), value(u.LearningRate), value(u.GradNorm),
		ratio(u.Utterances, u.Seconds), ratio(u.Audio, u.Seconds), value(u.WaitShare), value(u.Memory.Allocated), value(u.Memory.Peak),
	})
}

func (h *history) score(s scoreRecord) {
	one := &score{s.Update, s.Loss, s.WER, s.CER, s.Weights, s.Best}
	if s.Event == "test" {
		h.test = one
		return
	}
	if n := len(h.valid.last); n > 0 && s.Update <= h.valid.last[n-1] {
		return
	}
	if h.scores = append(h.scores, one); len(h.scores) > mostValidations {
		oldest := 0
		if h.scores[0] == h.best() {
			oldest = 1
		}
		h.scores = slices.Delete(h.scores, oldest, oldest+1)
	}
	h.valid.add(s.Update, h.trained.trained(), []float32{value(s.Loss), value(s.WER), value(s.CER), value(s.BlankShare)})
}

// best is the validation that the run took for its best last; where its records don't say, the first of those with the
// fewest wrong words. It is nil where there is none.
func (h *history) best() (best *score) {
	for _, s := range h.scores {
		if s.best || s.WER != nil && (best == nil || !best.best && *s.WER < *best.WER) {
			best = s
		}
	}
	return best
}

// scored is the last validation; nil where there is none.
func (h *history) scored() *score {
	if n := len(h.scores); n > 0 {
		return h.scores[n-1]
	}
	return nil
}

// left is how long the run still takes, in seconds, by what the session took until its last record; false where that
// isn't known. Short utterances of sorted epochs say nothing of the rest.
func (h *history) left() (seconds float64, known bool) {
	made := h.last.Update - h.start.Update
	elapsed := h.last.Time.Sub(h.start.Time).Seconds()
	if h.start.Total == 0 || made <= 0 || elapsed <= 0 || h.last.Epoch <= h.start.Config.Sorted {
		return 0, false
	}
	return elapsed / float64(made) * float64(max(h.start.Total-h.last.Update, 0)), true
}

// ended says whether the last update was made. A run may end earlier, by early_stop or a person.
func (h *history) ended() bool { return h.start.Total > 0 && h.last.Update >= h.start.Total }

// value is a figure; null, what a record doesn't have and what has no float32 are not known.
func value(x *float64) float32 {
	if x == nil {
		return unknown
	}
	return float(*x)
}

func ratio(a, b float64) float32 {
	if !(b > 0) {
		return unknown
	}
	return float(a / b)
}

// float has no infinite values: in a mean they would hide all others.
func float(x float64) float32 {
	if f := float32(x); finite(f) {
		return f
	}
	return unknown
}

package train

import "konkanitrain/engine"

// Verdicts of a plan.
const (
	Fits     = "fits"   // as it is set
	Fitted   = "fitted" // with smaller micro-batches, or with values computed again: auto_fit does that by itself
	TooLarge = "does not fit"
)

// PlanReport is what a run takes in memory. All sizes are bytes. Its JSON keys are those of `konkanitrain plan --json`.
type PlanReport struct {
	Target     string         `json:"target"` // cpu, or the name of the card
	Title      string         `json:"title"`  // of the target, for people
	Workers    int            `json:"workers"`
	Limit      int64          `json:"limit"` // that the run may hold in all; 0: unknown
	LimitFrom  string         `json:"limit_from"`
	Vocabulary int            `json:"vocabulary"`
	Parameters PlanParameters `json:"parameters"`
	BatchSize  int            `json:"batch_size"`
	Window     int            `json:"window"` // utterances in an update
	Recompute  string         `json:"recompute"`
	FP16       bool           `json:"fp16"`

	AsSet  PlanTotal  `json:"as_set"`
	Peak   *PlanPass  `json:"peak"`   // the largest pass of AsSet; null where there is none
	Fitted *PlanTotal `json:"fitted"` // null unless the verdict is fitted
	Beside []PlanPart `json:"beside"` // what is held beside buffers, as set and fitted

	Verdict  string          `json:"verdict"`
	Choice   []PlanPass      `json:"choice"`   // of Fitted: all passes of training, those with the most rows first
	Repeated float64         `json:"repeated"` // of Fitted: operations computed again in training, as a share of those as set
	LeftOut  []PlanUtterance `json:"left_out"` // utterances that don't fit even alone
	Advice   []string        `json:"advice"`   // what would fit, where the verdict is that it does not

	Passes     int         `json:"passes"`  // micro-batches of training, as set
	Variety    int         `json:"variety"` // shapes that they have
	Shapes     []PlanShape `json:"shapes"`
	Times      []PlanTimes `json:"estimates"` // of an update on the card, and on others beside it; null where nothing is known
	NotCounted []string    `json:"not_counted"`
}

// PlanTimes is an estimate of the time that a card takes for the update with the largest pass, from the launches of its
// programs and the card's data sheet; nothing is measured.
type PlanTimes struct {
	Card   string   `json:"card"`
	Title  string   `json:"title"`
	Passes int      `json:"passes"` // micro-batches of the update
	All    PlanOp   `json:"all"`
	Ops    []PlanOp `json:"ops"` // the longest first
}

// PlanOp is the estimate for all steps of one kind of op.
type PlanOp = engine.CardTime

// PlanParameters are numbers of parameters.
type PlanParameters struct {
	Total       int `json:"total"`
	Subsampling int `json:"subsampling"`
	Encoder     int `json:"encoder"`
	CTC         int `json:"ctc"`
	Decoder     int `json:"decoder"`
	Learned     int `json:"learned"` // those that are not frozen
}

// PlanTotal is who holds memory, in bytes.
type PlanTotal struct {
	Weights   int64   `json:"weights"`
	Gradients int64   `json:"gradients"`   // of all workers
	Moments   int64   `json:"moments"`     // both
	Averages  int64   `json:"averages"`    // of the weights, with ema_decay
	Arena     int64   `json:"arena"`       // activations of one worker
	Arenas    int64   `json:"activations"` // of all workers
	Beside    int64   `json:"beside"`      // all else that counts under the limit: see PlanReport.Beside
	Total     int64   `json:"total"`
	Seconds   float64 `json:"seconds"` // of the update with the largest pass; 0: unknown
}

// PlanPart is a part of the memory, by name.
type PlanPart struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// PlanPass is a micro-batch.
type PlanPass struct {
	Purpose   string         `json:"purpose"` // training or scoring
	Rows      int            `json:"rows"`
	Frames    int            `json:"frames"` // of 10 ms, with padding
	Tokens    int            `json:"tokens"` // with padding
	Recompute string         `json:"recompute"`
	FP16      bool           `json:"fp16"`
	Times     int            `json:"times"` // in the whole run
	Bytes     int64          `json:"bytes"` // of the arena
	Longest   *PlanUtterance `json:"longest,omitempty"`
}

// PlanUtterance is an utterance that memory depends on.
type PlanUtterance struct {
	ID      string  `json:"id"`
	File    string  `json:"file"`
	Line    int     `json:"line"` // 0: made up
	Seconds float64 `json:"seconds"`
}

// PlanShape is a shape of training's micro-batches, and what it takes in each way.
type PlanShape struct {
	What   string    `json:"what"` // largest, or a percentile of the length: "90 %"; "" where all shapes are listed
	Rows   int       `json:"rows"`
	Frames int       `json:"frames"`
	Tokens int       `json:"tokens"`
	Times  int       `json:"times"`
	Ways   []PlanWay `json:"ways"`
}

// PlanWay is one way to compute a shape. The largest micro-batch is one of 1, 2, 4 .. 1024 rows: batches are dealt in
// powers of two.
type PlanWay struct {
	Recompute string `json:"recompute"`
	FP16      bool   `json:"fp16"`
	Bytes     int64  `json:"bytes"`    // of the arena, with the shape's rows
	MaxRows   int    `json:"max_rows"` // the largest micro-batch that fits the limit; 0: not even one row. -1 without a limit
	MaxBytes  int64  `json:"max_bytes"`
	NextBytes int64  `json:"next_bytes"` // with twice as many rows, which is too much; 0 for 1024 rows
}

// ways are all that an arena can be made in.
func everyWay() (list []PlanWay) {
	for _, half := range []bool{false, true} {
		for _, r := range []engine.Recompute{engine.RecomputeNone, engine.RecomputeBlocks, engine.RecomputeAll} {
			list = append(list, PlanWay{Recompute: r.String(), FP16: half})
		}
	}
	return list
}

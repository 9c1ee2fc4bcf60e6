package train

import (
	"fmt"
	"path/filepath"
	"time"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// ledger is a run on disk: the checkpoint that it goes on from, the state that the next one will hold, and the
// checkpoints in its folder. Its life: open (what is there is found and refused where it doesn't fit), restore (into
// memory), then any number of trained, judge and save, and at the end an average.
type ledger struct {
	cfg     Config
	dir     string // checkpoint_dir
	report  *reporter
	folder  *checkpoint.Folder // dir, locked; nil before open
	origin  *Origin
	source  *recognize.Description // of the model that init_from names; nil: it names none, or one that says nothing of itself
	memory  memory
	program string // what commands begin with that are printed for a person

	record  func(event string, record any) // into metrics.jsonl
	settle  func()                         // makes the records durable
	renewed func()                         // called when the folder was removed and is made again

	state    state
	good     state   // after the last update that was made, and what came with it
	setSize  int     // of the training set, and
	seconds  float64 // of its sound, and
	setHash  string  // what its order depends on
	textHash string  // what its texts are
	// noiseHash is what the recordings are that noise is taken from; "" without.
	noiseHash string
	standing  standing
	begun     int    // updates made before this session
	place     place  // where its metrics go on; zero for a run that begins here
	finished  bool   // training had ended already when this session began
	newest    string // path of the newest checkpoint; "" without one
	onDisk    int    // the update that it is of
	kernels   string // what computes
	best      string // path of the best checkpoint; "" without one
	started   time.Time
	earlier   float64 // seconds of training before this session

	// otherModel says that the weights in memory are not the model of the newest checkpoint, though no update has been
	// made since: that model is their moving averages, which this run keeps no more.
	otherModel bool
}

// standing says how the state in memory stands to the newest checkpoint.
type standing uint8

const (
	fresh standing = iota // nothing was done yet, and nothing is on disk
	ahead                 // memory holds more than the newest checkpoint
	saved                 // the newest checkpoint holds exactly this state
)

func newLedger(cfg Config, report *reporter) *ledger {
	return &ledger{cfg: cfg, program: "konkanitrain", dir: filepath.Clean(cfg.Run.CheckpointDir), report: report, started: time.Now()}
}

// end says why training ends here; "" if it goes on.
func (l *ledger) end() string {
	s, o, patience := &l.state, l.cfg.Optimizer, l.cfg.Run.EarlyStop
	switch {
	case s.Progress.Epoch >= o.NumEpochs:
		return fmt.Sprintf("all epochs are done (num_epochs %d)", o.NumEpochs)
	case o.MaxUpdates > 0 && s.Progress.Updates >= o.MaxUpdates:
		return fmt.Sprintf("max_updates %d is reached", o.MaxUpdates)
	case patience > 0 && s.Stale >= patience:
		better := "no better score"
		if delta := l.cfg.Run.EarlyStopDelta; delta > 0 {
			better = fmt.Sprintf("no score better by %g (early_stop_delta)", delta)
		}
		return fmt.Sprintf("%s in %s in a row (early_stop %d)", better, words.Count(s.Stale, "validation"), patience)
	}
	return ""
}

// trained takes over what an update has changed beside weights and moments.
func (l *ledger) trained(u *update.Updater) {
	l.state.Progress.Updates, l.state.LossScale = u.Updates, u.LossScale
	l.standing = ahead
}

// keep notes that the state is that after an update, or after the milestones of that update.
func (l *ledger) keep() { l.good = l.state }

// goBack returns to the last update that was made, before windows that gave none, and before what came due at them.
// A checkpoint of these windows is none of that state.
func (l *ledger) goBack() {
	if l.state.Progress != l.good.Progress {
		l.standing = ahead
	}
	l.state = l.good
	l.nameBest()
}

// nameBest finds the path of the best checkpoint by the state.
func (l *ledger) nameBest() {
	l.best = ""
	if l.state.Best != nil {
		l.best = filepath.Join(l.dir, checkpoint.Name(l.state.BestStep))
	}
}

// close gives the folder up.
func (l *ledger) close() {
	if l.folder != nil {
		_ = l.folder.Close()
		l.folder = nil
	}
}

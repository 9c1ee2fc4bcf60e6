package train

import (
	"context"
	"io"
	"sync/atomic"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/mlflow"
	"konkanitrain/internal/rangetest"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// run is a run in progress.
type run struct {
	cfg         Config
	sets        sets
	index       string // folder, see data.Options; "" in a plan, which writes nothing
	net         model.Config
	device      *recognize.Device       // what computes
	pool        *device.Pool            // of the replica's buffers
	host        *device.Pool            // of the host's memory: all that the process holds counts there. On a CPU it is pool
	pools       recognize.Pools         // both
	card        recognize.CardMemory    // as the driver said it last
	limitFrom   string                  // what sets pool's limit
	machine     machine.Memory          // when the run began
	peak        int64                   // the most that was allocated up to the last record, bytes
	cleared     int                     // how often idle memory was given back
	staged      map[string]string       // the figures that each point of the log had last
	base        int64                   // what the process took before anything was loaded, bytes
	held        held                    // what it will hold beside buffers
	buffersOnly bool                    // for tests: nothing else counts under the limit
	computing   *recognize.Device       // the same, but for tests
	reliefs     [update.Lowered + 1]int // how often each was needed in this session
	replica     update.Replica
	updater     *update.Updater
	judge       *recognize.Recognizer // scores with the weights in training
	ledger      *ledger
	snapshot    *snapshot // nil: none is taken
	report      *reporter
	metrics     *metrics
	validations *validationLog
	board       *board                 // nil: no event files are written
	tracker     *mlflow.Tracker        // nil: no server is told of the run
	trackedID   atomic.Pointer[string] // of the run at the server; nil or "": not known
	status      mlflow.Status          // what became of it
	largest     update.Variant         // with the most memory of those to come
	meter       meter
	finding     *finding // nil: the run is no range test

	library *engine.Library[update.Variant] // the network's programs

	remote  remote // answers konkanitrain mem, and viewers
	first   bool   // no update of this session is made yet
	skipped skips
	tested  *recognize.Evaluation // of the test set

	hook, served func(update int) // for tests: called after each update, and after all that comes with it
}

// sets are the data of a run.
type sets struct {
	train     *data.Set
	loader    *data.Loader // of train
	val, test *scored      // nil without
	noise     *data.Noise  // that is added in training; nil where none is taken from recordings
}

// scored is a set to validate or test on.
type scored struct {
	manifest string
	set      *data.Set
	loader   *data.Loader
}

// Options are what a run needs beside its configuration.
type Options struct {
	Out    io.Writer // progress, for a person; nil: none
	Origin *Origin   // what FindOrigin has returned for the configuration; nil: Run looks itself
	// Program is what commands begin with that are printed for a person; "" is konkanitrain.
	Program string
	// Device is what RunConfig.OpenDevice has opened; nil: Run does that itself. Run closes it in any case.
	Device *recognize.Device
	// Begun, if set, is called when all is prepared: until then a run that is stopped saves nothing.
	Begun func()

	buffersOnly bool              // for tests: nothing beside buffers counts under the limit
	computing   *recognize.Device // for tests: makes the replica in place of Device
	memory      device.Device     // for tests: the host's memory, where buffers lie; nil: the real one
}

// Result is what a run has come to.
type Result struct {
	Updates, Epochs int
	Last, Best      *recognize.Evaluation // of the validation set; nil without one
	Test            *recognize.Evaluation // nil without a test set
	Checkpoint      string                // path of the newest checkpoint
	BestCheckpoint  string                // path of the one with the best validation; "" without a validation set
}

// Run trains as cfg says, and shows how it goes on. When ctx ends, the update in hand is finished and saved, and the
// error is ErrInterrupted; before the first update, while all is prepared, nothing is saved, and the error is the
// context's. Where something else stops the run and the weights are sound, they are saved as well.
func Run(ctx context.Context, cfg Config, o Options) (*Result, error) {
	defer leanHeap()()
	if o.Device != nil {
		defer o.Device.Close()
	}
	r, err := setUp(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if o.Begun != nil {
		o.Begun()
	}
	r.replica.Trim() // compiling has left garbage
	err = r.ending(ctx)
	r.status = statusOf(err)
	return r.result(), err
}

// ending makes the updates and all that comes after them. Where a card fails, the run is saved all the same.
func (r *run) ending(ctx context.Context) error {
	err := r.loop(ctx)
	if err == nil {
		err = r.finish(ctx)
	}
	if lost(err) {
		err = r.rescue(err)
	}
	return r.withUsers(err)
}

func (r *run) result() *Result {
	s := &r.ledger.state
	return &Result{
		Updates: r.updater.Updates, Epochs: s.Progress.Epoch, Last: s.Score, Best: s.Best, Test: r.tested,
		Checkpoint: r.ledger.newest, BestCheckpoint: r.ledger.best,
	}
}

// close gives everything back. What can still go wrong has been said where it mattered.
func (r *run) close() {
	r.remote.close()
	r.report.close()
	if r.metrics != nil {
		r.sayPerformance()
		_ = r.metrics.close() // each line was written when it was due
		_ = r.validations.close()
		r.board.close()
		r.closeTracker()
	}
	if r.replica != nil {
		r.replica.Close()
		r.snapshot.free()
		r.pools.Trim()
		if r.metrics != nil {
			r.checkLeaks()
		}
	}
	r.ledger.close()
	r.device.Close()
}

// total is the number of updates the run will have made at its end, if none is skipped.
func (r *run) total() int {
	n := r.last()
	if m := r.cfg.Optimizer.MaxUpdates; m > 0 {
		n = min(n, m)
	}
	if m := r.cfg.Run.ProfileSteps; m > 0 {
		n = min(n, r.ledger.begun+m)
	}
	if r.finding != nil {
		n = r.ledger.begun + rangetest.Updates
	}
	return n
}

// ended says whether there is nothing more to train, or to measure. A range test goes by nothing but itself.
func (r *run) ended() bool {
	if r.finding != nil {
		return r.finding.end != ""
	}
	return r.ledger.end() != "" || r.profiling() && r.made() >= r.cfg.Run.ProfileSteps
}

// made is the number of updates made in this session.
func (r *run) made() int { return r.updater.Updates - r.ledger.begun }

// measuring says that the run only measures: its time, or learning rates. Such a run makes no checkpoint and writes no
// metrics.
func (c RunConfig) measuring() bool { return c.ProfileSteps > 0 || c.FindLR }

// profiling says that the run only measures its time. Such a run leaves nothing behind.
func (r *run) profiling() bool { return r.cfg.Run.ProfileSteps > 0 }

// showMeasured shows what was measured.
func (r *run) showMeasured() error {
	if r.finding != nil {
		return r.showFound()
	}
	return r.printProfile()
}

// printProfile shows where the time went.
func (r *run) printProfile() error {
	r.report.close()
	if n, want := r.made(), r.cfg.Run.ProfileSteps; n < want {
		why := r.ledger.end()
		if why == "" {
			why = "interrupted"
		}
		r.report.say("profile: %d of %s were made: %s", n, words.Count(want, "update"), why)
		if n == 0 {
			return nil
		}
	}
	limits := engine.MeasureLimits()
	if r.onCard() {
		r.replica.Shrink(0) // for the room that measuring needs
		var err error
		if limits, err = engine.MeasureCardLimits(r.device.Card, r.pool, r.cfg.Run.FP16); err != nil {
			return err
		}
	}
	return r.replica.Profile().Write(r.report.out, limits)
}

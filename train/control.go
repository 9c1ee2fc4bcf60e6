package train

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"konkanitrain/internal/control"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/words"
)

// remote lets another program ask the run about its memory, and tell it to use less: konkanitrain mem.
type remote struct {
	server *control.Server              // nil where there is none
	place  atomic.Pointer[control.Info] // what the loop alone knows, as it last was
	total  int64                        // memory of the machine, bytes; 0: unknown
}

func (r *remote) close() {
	if r.server != nil {
		_ = r.server.Close() // a socket that can't be removed is replaced by the next run
	}
}

// listen begins to answer. Training doesn't depend on it. A run that only measures itself makes nothing in its folder.
func (r *run) listen() error {
	if r.profiling() {
		return nil
	}
	r.remote.total = machine.Read().Total
	r.note()
	server, err := control.Listen(r.ledger.dir, r.info)
	switch {
	case err == nil:
		r.remote.server = server
	case !errors.Is(err, errors.ErrUnsupported):
		r.report.say("NOTE: konkanitrain mem can't ask this run: %v", err)
	}
	return nil
}

// folderRenewed begins anew what lay in a checkpoint_dir that was removed.
func (r *run) folderRenewed() {
	r.renewMetrics()
	r.remote.close()
	r.remote.server = nil
	_ = r.listen() // which has said what is wrong
}

// note keeps what info can't look up itself while the run goes on.
func (r *run) note() {
	r.remote.place.Store(&control.Info{
		PID: os.Getpid(), Started: r.ledger.started, Total: r.remote.total,
		Update: r.updater.Updates, Epoch: min(r.ledger.state.Progress.Epoch+1, r.cfg.Optimizer.NumEpochs),
	})
}

// info is where the run stands and what it holds now. Any goroutine may call it.
func (r *run) info() control.Info {
	i, u := *r.remote.place.Load(), r.pool.Usage()
	i.Allocated, i.Reserved, i.Cached, i.Held, i.Limit = u.Allocated, u.Reserved, u.Cached(), u.Held, u.Limit
	i.Peak, i.PeakReserved = u.Peak, u.PeakReserved
	i.RSS, i.PeakRSS = machine.Self()
	for _, h := range r.pool.Holders() {
		i.Holders = append(i.Holders, control.Holder{Name: h.Name, Bytes: h.Bytes})
	}
	return i
}

// serve does, between two updates, what the run was asked for.
func (r *run) serve() {
	if r.remote.server == nil {
		return
	}
	r.note()
	r.remote.server.Serve(func(q control.Request) (string, error) {
		note, err := r.obey(q)
		if err == nil {
			r.report.say("memory, as asked for (%s): %s", q.Ask, note)
		}
		return note, err
	})
}

// obey carries out a request and says what came of it.
func (r *run) obey(q control.Request) (note string, err error) {
	switch q.Ask {
	case control.AskClear:
		return r.giveBack(), nil
	case control.AskReset:
		return r.resetPeaks(), nil
	case control.AskFraction:
		return r.capMemory(q.Fraction)
	}
	return "", fmt.Errorf("%q is unknown to this run", q.Ask)
}

// giveBack gives idle memory back to the system.
func (r *run) giveBack() string {
	buffers := r.pool.Trim()
	before, _ := machine.Self()
	r.replica.Trim()
	after, _ := machine.Self()
	return fmt.Sprintf("gave back %s of idle buffers, and %s that the rest of the program had idle", words.Bytes(buffers), words.Bytes(max(before-after, 0)))
}

// resetPeaks lets the peaks begin anew.
func (r *run) resetPeaks() string {
	r.pool.ResetPeaks()
	if err := machine.ResetPeak(); err != nil {
		return fmt.Sprintf("the peaks of buffers begin anew; %v", err)
	}
	return "the peaks begin anew"
}

// capMemory sets the most that the run may hold, as memory_fraction does at its start, and has it give back what is
// above that.
func (r *run) capMemory(fraction float64) (string, error) {
	c := r.cfg.Run
	c.MemoryFraction = fraction
	bytes, why, err := c.budget()
	if err != nil {
		return "", err
	}
	if bytes <= 0 {
		return "", fmt.Errorf("%g of the memory comes to nothing, or this system doesn't say how much there is", fraction)
	}
	r.pool.SetLimit(bytes)
	r.limitFrom = why
	r.yield()
	note := fmt.Sprintf("the cap is %s (%s)", words.Bytes(bytes), why)
	if over := r.pool.Over(); over > 0 {
		note += fmt.Sprintf("; the run holds %s more, and gets nothing until it holds less", words.Bytes(over))
	}
	return note, nil
}

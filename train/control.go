package train

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"konkanitrain/internal/control"
	"konkanitrain/internal/machine"
	"konkanitrain/internal/watch"
	"konkanitrain/internal/words"
)

// remote lets another program ask the run about its memory, and tell it to use less, which is konkanitrain mem, and
// people see the run in a browser.
type remote struct {
	server   *control.Server              // nil where there is none
	listener *watch.Listener              // nil: nobody can see the run
	page     *watch.Server                // nil before it answers
	place    atomic.Pointer[control.Info] // what the loop alone knows, as it last was
	step     *watch.Step                  // nil: not known
	total    int64                        // memory of the machine, bytes; 0: unknown
}

func (r *remote) close() {
	switch {
	case r.page != nil:
		_ = r.page.Close()
	case r.listener != nil:
		_ = r.listener.Close()
	}
	r.page, r.listener = nil, nil
	r.closeServer()
}

// closeServer ends the answers to konkanitrain mem.
func (r *remote) closeServer() {
	if r.server != nil {
		_ = r.server.Close() // a socket that can't be removed is replaced by the next run
	}
}

// listen begins to answer. Training doesn't depend on it. A run that only measures itself makes nothing in its folder.
func (r *run) listen() error {
	if r.cfg.Run.measuring() {
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
	r.recordStart(map[string]any{"update": r.updater.Updates, "resumed_at": r.updater.Updates, "logged_at": r.meter.shown})
	r.writeStep()
	r.board.renew(r)
	r.remote.closeServer()
	r.remote.server = nil
	_ = r.listen() // which has said what is wrong
}

// note keeps what info can't look up itself while the run goes on.
func (r *run) note() {
	p := &r.ledger.state.Progress
	r.remote.place.Store(&control.Info{
		PID: os.Getpid(), Started: r.ledger.started, Update: r.updater.Updates, Epoch: min(p.Epoch+1, r.cfg.Optimizer.NumEpochs),
		Total: r.remote.total,
	})
}

// info is where the run stands and what it holds now. Any goroutine may call it.
func (r *run) info() control.Info {
	i, u := *r.remote.place.Load(), r.pool.Usage()
	i.Allocated, i.Reserved, i.Cached, i.Held, i.Limit = u.Allocated, u.Reserved, u.Cached(), u.Held, u.Limit
	i.Peak, i.PeakReserved = u.Peak, u.PeakReserved
	for _, h := range r.pool.Holders() {
		i.Holders = append(i.Holders, control.Holder(h))
	}
	i.RSS, i.PeakRSS = machine.Self()
	if r.onCard() {
		i.Card = r.cardInfo()
	}
	return i
}

// serve does, between two updates, what the run was asked for.
func (r *run) serve() {
	if r.remote.server == nil {
		return
	}
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
	bytes := r.pools.Trim()
	before, _ := machine.Self()
	r.replica.Trim()
	after, _ := machine.Self()
	return fmt.Sprintf("gave back %s of idle buffers, and %s that the rest of the program had idle", words.Bytes(bytes), words.Bytes(max(before-after, 0)))
}

// resetPeaks lets the peaks begin anew, those that can.
func (r *run) resetPeaks() string {
	r.pool.ResetPeaks()
	r.host.ResetPeaks()
	if err := machine.ResetPeak(); err != nil {
		return fmt.Sprintf("the peaks of buffers begin anew, but %v", err)
	}
	return "the peaks begin anew"
}

// capMemory sets the most that the run may hold to a share of what there is, and has it give back what is above that.
func (r *run) capMemory(fraction float64) (string, error) {
	base, of, err := r.whole()
	if err != nil {
		return "", err
	}
	bytes := int64(fraction * float64(base))
	if least := r.totalWith(0); bytes <= least {
		return "", fmt.Errorf("a cap of %s: %g of %s, is not above the %s that the run holds without its arenas, which it can't give back",
			words.Bytes(bytes), fraction, of, words.Bytes(least))
	}
	r.pool.SetLimit(bytes)
	r.limitFrom = fmt.Sprintf("mem fraction %g", fraction)
	r.yield()
	return fmt.Sprintf("the cap is %s: %g of %s", words.Bytes(bytes), fraction, of), nil
}

// whole is the memory that a cap is a share of, in bytes, and whose that is.
func (r *run) whole() (bytes int64, of string, err error) {
	if r.onCard() {
		return r.device.Card.Info().Total, "the card's memory", nil
	}
	m := machine.Read()
	switch {
	case m.Base() == 0:
		return 0, "", errors.New("this system doesn't say how much memory there is: there is nothing to take a share of")
	case m.Limit > 0:
		return m.Base(), "what " + m.Source + " allows", nil
	}
	return m.Base(), "this machine's memory", nil
}

// cardInfo is what there is to say of the card, and of the host's memory beside it.
func (r *run) cardInfo() *control.Card {
	c := &control.Card{Device: r.device.Name, Title: r.device.Card.Info().Name}
	if now, err := r.device.Memory(); err == nil { // else the context is lost, and the run about to end
		c.Free, c.Total, c.Other = now.Free, now.Total, now.Other
	}
	h := r.host.Usage()
	c.Host, c.HostLimit = h.Reserved+h.Held, h.Limit
	for _, x := range r.host.Holders() {
		c.HostHolders = append(c.HostHolders, control.Holder(x))
	}
	return c
}

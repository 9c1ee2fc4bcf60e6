package update

import (
	"unsafe"

	"konkanitrain/data"
	"konkanitrain/engine"
)

// A replica that makes an update as a whole (engine.Learner) takes up the inputs of the next window while it computes.

// learn makes the update of a window on such a replica.
func (u *Updater) learn(l engine.Learner[Variant], window []*data.Example, scale float64) (Outcome, error) {
	r, ask := u.Runner, u.ask(scale)
	if err := r.takeOver(window, ask); err != nil {
		return u.count(window), err
	}
	out := u.count(window)
	if out.Skipped != Made { // some were left out for lack of memory
		return out, nil
	}
	step := engine.Learning{AdamW: u.adamW(), Clip: u.o.GradClip, LossScale: scale}
	if u.Next != nil {
		step.Meanwhile = func() { r.takeUp(l, u.Next(), ask) }
	}
	learned, err := l.Learn(&r.pass, step)
	if err != nil {
		return out, err
	}
	out.add(r.losses)
	out.Norm = learned.Norm
	if !learned.Applied {
		return u.overflow(window, r.losses, out)
	}
	return out, u.made(step.Number, step.LR)
}

// takeOver makes a window the one at hand: the one that was taken up, if it is that one and there still is room for it,
// or else it is dealt and prepared.
func (r *Runner) takeOver(window []*data.Example, ask Ask) error {
	next := r.ahead
	there := next.window != nil && next.same(window) && next.asked.Half == ask.Half && next.limit == r.Fit.Limit() &&
		r.Replica.Prepare(next.pass.Batches, 0) == nil
	next.window = nil
	if !there {
		r.load(window, ask)
		return r.prepare()
	}
	r.work, r.ahead = next, r.work
	r.window, r.asked = window, ask
	r.share()
	return nil
}

// same says whether a window is the one that is worked on.
func (w *work) same(window []*data.Example) bool {
	return len(w.window) == len(window) && unsafe.SliceData(w.window) == unsafe.SliceData(window)
}

// takeUp sends the inputs of the window that comes next on their way, if it can run with what is there already. What is
// wrong with it is said when it is the one at hand.
func (r *Runner) takeUp(l engine.Learner[Variant], window []*data.Example, ask Ask) {
	if len(window) == 0 {
		return
	}
	next := r.ahead
	next.load(window, ask)
	next.dealer.fit, next.limit = r.Fit, r.Fit.Limit()
	batches, err := next.dealer.deal(next.lengths, ask)
	if err == nil && len(next.dealer.left) == 0 {
		next.dispatch(batches)
		if l.Stage(&next.pass) {
			return
		}
	}
	next.window = nil
}

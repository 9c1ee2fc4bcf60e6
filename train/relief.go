package train

import (
	"errors"
	"fmt"
	"strings"

	"konkanitrain/device"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// What a run does when memory is taken away from it while it goes on.

// relieved says what was done for a pass for which there was no memory, and keeps what was learned.
func (r *run) relieved(x update.Relief) {
	r.reliefs[x.Rung]++
	switch x.Rung {
	case update.Trimmed:
		r.report.say("MEMORY: %v: idle memory is given back, trying again", x.Err)
	case update.Dropped:
		r.report.say("MEMORY: %v: compiled programs are dropped, trying again", x.Err)
	case update.Lowered:
		r.report.say("MEMORY: %v: from now on %s takes up to %s: smaller micro-batches, or values are computed again. "+
			"An update still has %s", x.Err, r.whoTakes(), words.Bytes(x.Limit), words.Count(r.cfg.Window(), "utterance"))
		r.learn()
	}
}

// withoutMemory adds to an error that is for lack of memory which settings need less, and how to go on.
func (r *run) withoutMemory(err error) error {
	var oom *device.OutOfMemory
	var large *update.TooLarge
	switch {
	case errors.As(err, &large):
		return lacking(fmt.Errorf("%w; go on without such utterances: %s", err, r.ledger.resumeCommand("--on_oom skip")))
	case errors.As(err, &oom):
		if r.onCard() {
			return lacking(fmt.Errorf("%w; go on when more memory is free, or on a card with more: %s", err, r.ledger.resumeCommand("")))
		}
		return lacking(fmt.Errorf("%w; go on with fewer workers, or where there is more memory: %s", err, r.ledger.resumeCommand("--cpu_workers 1")))
	}
	return err
}

// withUsers adds to an error for lack of a card's memory who else uses it.
func (r *run) withUsers(err error) error {
	if !r.onCard() || !errors.Is(err, ErrOutOfMemory) {
		return err
	}
	for _, user := range r.device.OtherUsers() {
		err = fmt.Errorf("%w\n%s", err, user)
	}
	return err
}

// memoryError is an error for lack of memory.
type memoryError struct{ error }

// lacking makes an error one for lack of memory: [ErrOutOfMemory].
func lacking(err error) error { return &memoryError{err} }

// Error says that memory was lacking, once.
func (e *memoryError) Error() string {
	text := e.error.Error()
	if strings.Contains(text, "out of memory") {
		return text
	}
	return ErrOutOfMemory.Error() + ": " + text
}

// Unwrap is both: what it is, and why.
func (e *memoryError) Unwrap() []error { return []error{ErrOutOfMemory, e.error} }

// yield gives back what the run holds above its limit, where that was lowered since the last window. Such a limit is
// this process's: the next session doesn't learn from it.
func (r *run) yield() {
	if r.pool.Over() == 0 {
		return
	}
	u := r.pool.Usage()
	if !r.fit().Yield() {
		return
	}
	r.reliefs[update.Lowered]++
	r.report.say("MEMORY: the limit is %s now, and %s were held: %s takes up to %s from now on. An update still has %s",
		words.Bytes(u.Limit), words.Bytes(u.Reserved+u.Held), r.whoTakes(), words.Bytes(r.fit().Limit()), words.Count(r.cfg.Window(), "utterance"))
}

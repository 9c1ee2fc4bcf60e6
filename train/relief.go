package train

import (
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
		r.report.say("MEMORY: %v: from now on each worker takes up to %s: smaller micro-batches, or values are computed again. "+
			"An update still has %s", x.Err, words.Bytes(x.Limit), words.Count(r.cfg.Window(), "utterance"))
		r.learn()
	}
}

// learn notes the limit of each arena, which a resumed run begins with.
func (r *run) learn() {
	r.ledger.state.Lessons.Arena = r.fit().Limit()
	r.ledger.good.Lessons = r.ledger.state.Lessons
}

// yield gives back what the run holds above its limit, where that was lowered since the last window.
func (r *run) yield() {
	if r.pool.Over() == 0 {
		return
	}
	u := r.pool.Usage()
	if !r.fit().Yield() {
		return
	}
	r.reliefs[update.Lowered]++
	r.learn()
	r.report.say("MEMORY: the limit is %s now, and %s were held: each worker takes up to %s from now on. An update still has %s",
		words.Bytes(u.Limit), words.Bytes(u.Reserved+u.Held), words.Bytes(r.fit().Limit()), words.Count(r.cfg.Window(), "utterance"))
}

package train

import (
	"fmt"
	"slices"

	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/op"
	"konkanitrain/update"
)

// lessons are what a run has learned of the memory and the machine that it runs on. They are saved with it, so that a
// resumed run chooses what the run chose before: the same micro-batches, to the bit.
type lessons struct {
	Arena int64         `json:"arena,omitempty"` // bytes that a worker's arena may have; 0: there was room for everything
	Under string        `json:"under,omitempty"` // the settings of memory under which that was learned
	Costs *engine.Costs `json:"costs,omitempty"` // what ops cost here; measured where there was no room for everything
}

// learn notes the limit of each arena, which a resumed run begins with.
func (r *run) learn() {
	l := &r.ledger.state.Lessons
	if l.Arena, l.Under = r.fit().Limit(), ""; l.Arena > 0 {
		l.Under = r.memorySettings()
	}
	r.ledger.good.Lessons = r.ledger.state.Lessons
}

// memorySettings are the settings that decide how much room there is.
func (c RunConfig) memorySettings() string {
	return fmt.Sprintf("memory_limit %s, memory_fraction %g, cpu_workers %d", c.MemoryLimit, c.MemoryFraction, c.CPUWorkers)
}

// memorySettings are those of the configuration, and the card where they are about its memory.
func (r *run) memorySettings() string {
	s := r.cfg.Run.memorySettings()
	if r.onCard() {
		s += ", on a card"
	}
	return s
}

// kernels are what computes.
func (r *run) kernels() string {
	if r.onCard() {
		return r.device.Kernels()
	}
	return op.Kernels()
}

// learned is the limit of each arena that an earlier session has learned, in bytes; 0 where there is none that counts
// here. It stays while the settings do and while there is room for it, so that windows are dealt as they were; else the
// run is not bit for bit the uninterrupted one, and says so.
func (r *run) learned(room int64) int64 {
	l := r.ledger.state.Lessons
	if l.Arena == 0 {
		return 0
	}
	const not = "micro-batches may be others, so the run is not bit for bit the uninterrupted one"
	switch now := r.memorySettings(); {
	case l.Under != now:
		r.report.say("NOTE: the checkpoint's run was fitted under %s, this one is under %s: %s", l.Under, now, not)
		return 0
	case l.Arena > room:
		r.report.say("NOTE: a worker had up to %s when the checkpoint was written, and there are %s now: %s", words.Bytes(l.Arena), words.Bytes(room), not)
	}
	return l.Arena
}

// costs are those that an earlier session has measured with the same kernels, or else measured now on a shape that the
// run meets often: all choices of what is faster rest on them.
func (r *run) costs(met []update.Met) error {
	l := &r.ledger.state.Lessons
	if l.Costs == nil || l.Costs.Kernels != r.kernels() {
		v, err := r.typical(met)
		if err != nil || v == nil {
			return err
		}
		if l.Costs, err = r.updater.Runner.Measure(*v); err != nil {
			l.Costs = nil // there is no memory for it yet: operations have to do
			return nil
		}
		if l.Costs != nil {
			l.Costs.Kernels = r.kernels()
		}
	}
	r.fit().Costs = l.Costs
	return nil
}

// typical is the shape that most of the run's work is in, of those that fit; where none does, the same for single
// utterances with as much computed again as is allowed. Nil where not even one of these fits.
func (r *run) typical(met []update.Met) (*update.Variant, error) {
	ways := r.cfg.Run.ways()
	alone := slices.Clone(met)
	for i := range alone {
		alone[i].Batch, alone[i].Recompute = 1, ways[len(ways)-1]
	}
	for _, list := range [][]update.Met{met, alone} {
		v, err := r.busiest(list)
		if v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil
}

// busiest is the shape that most work is in, of those that fit.
func (r *run) busiest(met []update.Met) (*update.Variant, error) {
	prices, err := r.replica.Prices(variants(met))
	if err != nil {
		return nil, err
	}
	var found *update.Variant
	most, room := 0.0, r.replica.Room()
	for i, m := range met {
		if work := prices[i].FLOPs * float64(m.Times); prices[i].Bytes <= room && work > most {
			found, most = &met[i].Variant, work
		}
	}
	return found, nil
}

func variants(met []update.Met) []update.Variant {
	keys := make([]update.Variant, len(met))
	for i, m := range met {
		keys[i] = m.Variant
	}
	return keys
}

// fit is what makes the passes of the run fit.
func (r *run) fit() *update.Fit { return r.updater.Runner.Fit }

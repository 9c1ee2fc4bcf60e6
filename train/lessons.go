package train

import (
	"slices"

	"konkanitrain/engine"
	"konkanitrain/op"
	"konkanitrain/update"
)

// lessons are what a run has learned of the memory and the machine that it runs on. They are saved with it, so that a
// resumed run chooses what the run chose before: the same micro-batches, to the bit.
type lessons struct {
	Arena int64         `json:"arena,omitempty"` // bytes that a worker's arena may have; 0: there was room for everything
	Costs *engine.Costs `json:"costs,omitempty"` // what ops cost here; measured where there was no room for everything
}

// learn notes the limit of each arena, which a resumed run begins with.
func (r *run) learn() {
	r.ledger.state.Lessons.Arena = r.fit().Limit()
	r.ledger.good.Lessons = r.ledger.state.Lessons
}

// costs are those that an earlier session has measured with the same kernels, or else measured now on a shape that the
// run meets often: all choices of what is faster rest on them.
func (r *run) costs(met []update.Met) error {
	l := &r.ledger.state.Lessons
	if l.Costs == nil || l.Costs.Kernels != op.Kernels() {
		v, err := r.typical(met)
		if err != nil || v == nil {
			return err
		}
		if l.Costs, err = r.updater.Runner.Measure(*v); err != nil {
			l.Costs = nil // there is no memory for it yet: operations have to do
			return nil
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

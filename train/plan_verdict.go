package train

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"konkanitrain/data"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/update"
)

// plan fills a report.
func (p *planner) plan() (*PlanReport, error) {
	r, err := p.figures()
	if err != nil {
		return nil, err
	}
	r.Shapes, err = p.shapes()
	return r, err
}

// figures fills a report but for its shapes.
func (p *planner) figures() (*PlanReport, error) {
	n := p.parameters()
	r := &PlanReport{
		Target: "cpu", Title: words.Count(p.workers, "CPU worker"), Workers: p.workers,
		Limit: p.pool.Usage().Limit, LimitFrom: p.limitFrom, Vocabulary: p.net.Vocab,
		Parameters: PlanParameters{n.Total, n.Subsampling, n.Encoder, n.CTC, n.Decoder, size(p.cfg.Tuning().Learned(model.Parameters(p.net)))},
		BatchSize:  p.cfg.Optimizer.BatchSize, Window: p.cfg.Window(), Recompute: p.cfg.Run.Recompute, FP16: p.cfg.Run.FP16,
		Choice: []PlanPass{}, LeftOut: []PlanUtterance{}, Advice: []string{},
	}
	if cores := runtime.GOMAXPROCS(0); p.cfg.Run.CPUWorkers == 0 && p.workers < cores {
		r.Title += fmt.Sprintf(" of %d (there is no room for more)", cores)
	}
	if p.o.Card != nil {
		r.Target, r.Title = p.o.Card.Name, p.o.Card.Title
	}
	if c := p.ledger.state.Lessons.Costs; c != nil && c.Kernels == op.Kernels() && p.o.Card == nil {
		p.fit().Costs = c
	}
	var err error
	if err = p.choose(); err != nil {
		return nil, err
	}
	r.Beside = p.beside()
	if r.AsSet, err = p.total(p.whole); err != nil {
		return nil, err
	}
	if p.whole.most.loader != nil {
		peak := p.pass(p.whole.most.Met, p.whole.most.bytes)
		peak.Longest = utterance(p.whole.most.utterance())
		r.Peak = &peak
	}
	for _, m := range p.whole.training {
		r.Passes += m.Times
	}
	r.Variety = len(p.whole.training)
	r.NotCounted = p.notCounted()
	if err := p.judge(r); err != nil {
		return nil, err
	}
	r.Times, err = p.times(r)
	return r, err
}

// choose lists what the run will send through the network.
func (p *planner) choose() (err error) {
	if p.o.Card != nil {
		// What the process holds is in another memory than that of the card, where everything is a buffer. Tables count
		// whether or not there is room for them.
		p.buffersOnly = true
		limit := p.pool.Usage().Limit
		p.pool.SetLimit(0)
		listed, err := p.listPasses()
		if err == nil {
			err = p.prepareTables(listed)
		}
		p.pool.SetLimit(limit)
		if err != nil {
			return err
		}
	} else if !p.buffersOnly {
		// A crew's workspaces are on the heap, and are counted there once they are; this replica has none.
		_ = p.pool.Hold(workspaces, p.replica.Usage().Workspaces)
	}
	p.whole, p.passes, err = p.choosePasses()
	return err
}

// What is held beside what a run accounts for.
const (
	tables     = "tables of constants"
	workspaces = "workspaces of the kernels"
	cardsOwn   = "constants and scratch" // of a card
)

// further is what a replica on a card has in buffers beside those that every replica has, tables included, in bytes.
func (p *planner) further() int64 {
	u := p.replica.Usage()
	return p.pool.Usage().Allocated - u.Flat() - u.Arenas
}

// beside are the parts of what is held beside buffers.
func (p *planner) beside() []PlanPart {
	u := p.replica.Usage()
	if p.o.Card != nil {
		return []PlanPart{{cardsOwn, p.further() - u.Tables}, {tables, u.Tables}}
	}
	list := []PlanPart{{workspaces, u.Workspaces}}
	for _, x := range p.held.parts() {
		list = append(list, PlanPart{x.name, x.bytes})
	}
	return list
}

// judge says whether the run fits, and how.
func (p *planner) judge(r *PlanReport) error {
	for _, u := range p.passes.left {
		r.LeftOut = append(r.LeftOut, *utterance(u.Utterance))
	}
	slices.SortStableFunc(r.LeftOut, func(a, b PlanUtterance) int { return cmp.Compare(b.Seconds, a.Seconds) })
	if !p.enough() {
		r.Verdict = TooLarge
		var err error
		r.Advice, err = p.advice()
		return err
	}
	if r.Verdict = Fits; p.fit().Limit() == 0 {
		return nil
	}
	r.Verdict = Fitted
	fitted, err := p.total(p.passes)
	if err != nil {
		return err
	}
	r.Fitted = &fitted
	prices, err := p.replica.Prices(variants(p.passes.training))
	if err != nil {
		return err
	}
	work := 0.0
	for i, m := range p.passes.training {
		r.Choice = append(r.Choice, p.pass(m, prices[i].Bytes))
		work += float64(m.Times) * prices[i].FLOPs
	}
	before, err := p.work(p.whole.training)
	r.Repeated = max(work/before-1, 0)
	return err
}

// enough says whether there is memory enough for what was chosen, and makes room for it.
func (p *planner) enough() bool {
	return (len(p.passes.left) == 0 || p.fit().Leave) && len(p.passes.training) > 0 && p.replica.Prepare(nil, p.passes.most.bytes) == nil
}

// work is what passes come to in floating-point operations.
func (p *planner) work(met []update.Met) (sum float64, err error) {
	prices, err := p.replica.Prices(variants(met))
	for i, m := range met {
		if err == nil {
			sum += float64(m.Times) * prices[i].FLOPs
		}
	}
	return sum, err
}

// total is what the run holds with arenas for its largest pass.
func (p *planner) total(of *passes) (PlanTotal, error) {
	u, arena := p.replica.Usage(), of.most.bytes
	t := PlanTotal{
		Weights: u.Weights, Gradients: u.Gradients, Moments: u.Moments, Averages: u.Averages, Arena: arena, Arenas: arena * int64(p.workers),
		Beside: p.pool.Usage().Held + p.further(), Total: p.totalWith(arena),
	}
	e, err := p.update(of)
	t.Seconds = e.Seconds
	return t, err
}

// update is the update with the largest pass; it has no batches where that pass is one of scoring.
func (p *planner) update(of *passes) (update.Estimate, error) {
	if of.most.loader == nil || of.most.loader != p.sets.loader {
		return update.Estimate{}, nil
	}
	// Under a limit the updater deals as the passes were dealt; without one as they would be with room for everything.
	runner := p.updater.Runner
	if of == p.whole {
		runner = update.NewRunner(p.net, p.replica, p.cfg.Optimizer.BatchSize)
		runner.Fit.Recompute, runner.Fit.Costs = p.cfg.Run.ways()[:1], p.fit().Costs
	}
	return runner.Estimate(p.sets.loader.Lengths(of.most.Epoch, of.most.Window, nil), p.trainingAsk())
}

// pass is a micro-batch for the report.
func (p *planner) pass(m update.Met, bytes int64) PlanPass {
	purpose := "training"
	if m.Purpose != model.Training {
		purpose = "scoring"
	}
	return PlanPass{
		Purpose: purpose, Rows: m.Batch, Frames: m.Frames, Tokens: m.Tokens, Recompute: m.Recompute.String(), FP16: m.Half,
		Times: m.Times, Bytes: bytes,
	}
}

func utterance(u *data.Utterance) *PlanUtterance {
	return &PlanUtterance{u.ID, u.File, u.Line, u.Duration}
}

// notCounted names what takes memory and is in none of the figures.
func (p *planner) notCounted() []string {
	if p.o.Card == nil {
		return []string{"other programs; what the process holds beside buffers is foreseen from its heap, and not exact to the byte"}
	}
	if p.o.Card.limitFrom != "" { // of this machine: without its context
		return []string{"what the driver takes for kernels and graphs: a part of the card's memory is left free for it"}
	}
	return []string{"the driver's context and its libraries, a few hundred MB of the card's memory: memory_fraction 0.95 leaves room for them"}
}

package train

import (
	"fmt"
	"slices"

	"konkanitrain/data"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/update"
)

// plan fills a report.
func (p *planner) plan() (*PlanReport, error) {
	n := p.parameters()
	r := &PlanReport{
		Target: "cpu", Title: words.Count(p.null.Wishes().Workers, "CPU worker"), Workers: p.null.Wishes().Workers,
		Limit: p.pool.Usage().Limit, LimitFrom: p.limitFrom, Vocabulary: p.net.Vocab,
		Parameters: PlanParameters{n.Total, n.Subsampling, n.Encoder, n.CTC, n.Decoder},
		BatchSize:  p.cfg.Optimizer.BatchSize, Window: p.cfg.Window(), Recompute: p.cfg.Run.Recompute, FP16: p.cfg.Run.FP16,
		Choice: []PlanPass{}, LeftOut: []PlanUtterance{}, Advice: []string{},
	}
	if p.o.Card != nil {
		r.Target, r.Title = p.o.Card.Name, p.o.Card.Title
	}
	if c := p.ledger.state.Lessons.Costs; c != nil && c.Kernels == op.Kernels() && p.o.Card == nil {
		p.fit().Costs = c
	}
	var err error
	if p.whole, p.passes, err = p.choosePasses(); err != nil {
		return nil, err
	}
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
	if err := p.judge(r); err != nil {
		return nil, err
	}
	if r.Shapes, err = p.shapes(); err != nil {
		return nil, err
	}
	r.NotCounted = p.notCounted()
	return r, nil
}

// judge says whether the run fits, and how.
func (p *planner) judge(r *PlanReport) error {
	for _, u := range p.passes.left {
		r.LeftOut = append(r.LeftOut, *utterance(u.Utterance))
	}
	if len(p.passes.left) > 0 && !p.fit().Leave || len(p.passes.training) == 0 || p.replica.Prepare(nil, p.passes.most.bytes) != nil {
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
		Weights: u.Weights, Gradients: u.Gradients, Moments: u.Moments, Workspaces: u.Workspaces, Tables: u.Tables,
		Other: p.pool.Usage().Held - u.Workspaces - u.Tables,
		Arena: arena, Arenas: arena * int64(p.null.Wishes().Workers), Total: p.totalWith(arena),
	}
	if p.fit().Costs == nil || of.most.loader != p.sets.loader {
		return t, nil
	}
	// Under a limit the updater deals as the passes were dealt; without one as they would be with room for everything.
	runner := p.updater.Runner
	if of == p.whole {
		runner = update.NewRunner(p.net, p.replica, p.cfg.Optimizer.BatchSize)
		runner.Fit.Recompute, runner.Fit.Costs = p.cfg.Run.ways()[:1], p.fit().Costs
	}
	e, err := runner.Estimate(p.sets.loader.Lengths(of.most.Epoch, of.most.Window, nil), p.trainingAsk())
	t.Seconds = e.Seconds
	return t, err
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
		return []string{"the program itself and what the system keeps for it, some tens of MB"}
	}
	return []string{
		"the driver's context and its libraries, a few hundred MB of the card's memory: memory_fraction 0.95 leaves room for them",
		"the shapes are those of this build's kernels, which are the CPU's; a kernel of the card that needs a workspace takes more",
	}
}

// advice lists what would let a run that doesn't fit train.
func (p *planner) advice() (list []string, err error) {
	room := p.null.Room()
	if room == 0 {
		u := p.replica.Usage()
		return []string{fmt.Sprintf("weights, gradients and moments alone take %s: use a smaller network, or fewer cpu_workers, each of which has gradients",
			words.Binary(u.Weights+u.Gradients+u.Moments))}, nil
	}
	if p.fit().Rigid {
		if list, err = p.fittingSettings(p.whole.most); err != nil {
			return nil, err
		}
		return append(list, "auto_fit chooses among such settings by itself"), nil
	}
	if list, err = p.otherWays(room); err != nil {
		return nil, err
	}
	if p.o.Seconds > 0 {
		if s := p.longestMadeUp(); s > 0 {
			list = append(list, fmt.Sprintf("with utterances of up to %.1f s it fits (seconds)", s))
		}
	} else if s := p.longestThatFits(); s > 0 {
		list = append(list, fmt.Sprintf("max_duration %.1f lets the rest train", s), "on_oom skip leaves out what doesn't fit")
	}
	return append(list, "more memory, or a smaller network"), nil
}

// otherWays lists settings other than those given with which the longest utterance that doesn't fit would.
func (p *planner) otherWays(room int64) (list []string, err error) {
	longest := p.longestLeft()
	if longest == nil || !longest.training {
		return nil, nil
	}
	row := longest.loader.Lengths(longest.place.Epoch, longest.place.Window, nil)[longest.place.Row]
	runner := update.NewRunner(p.net, p.replica, 1)
	runner.Fit.Recompute = RunConfig{Recompute: "auto"}.ways()
	workers, gradients := int64(p.null.Wishes().Workers), p.replica.Usage().Weights
	for _, half := range []bool{p.cfg.Run.FP16, true} {
		least, err := runner.Least(row, update.Ask{Purpose: model.Training, Half: half})
		if err != nil {
			return nil, err
		}
		for n := workers; n >= 1; n-- {
			if least > (room*workers+(workers-n)*gradients)/n {
				continue
			}
			text := "recompute auto"
			if half && !p.cfg.Run.FP16 {
				text += ", fp16"
			}
			if n < workers {
				text += fmt.Sprintf(", cpu_workers %d", n)
			}
			if text += " fits"; !slices.Contains(list, text) {
				list = append(list, text)
			}
			break
		}
	}
	return list, nil
}

func (p *planner) longestLeft() *leftOut {
	var longest *leftOut
	for _, u := range p.passes.left {
		if longest == nil || u.Duration > longest.Duration {
			longest = u
		}
	}
	return longest
}

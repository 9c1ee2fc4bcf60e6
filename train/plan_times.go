package train

import (
	"slices"

	"konkanitrain/engine"
	"konkanitrain/op"
)

// comparedCards are those whose times stand beside a card's.
var comparedCards = []string{"t4", "p100", "h100"}

// times are the estimates for the update with the largest pass: first the card that is planned for, then those to
// compare it with, as if the run fitted them as well.
func (p *planner) times(r *PlanReport) (list []PlanTimes, err error) {
	if p.o.Card == nil || p.o.Card.Speed.Bytes == 0 {
		return nil, nil
	}
	of := p.whole
	if r.Verdict == Fitted {
		of = p.passes
	}
	e, err := p.update(of)
	if err != nil || len(e.Batches) == 0 {
		return nil, err
	}
	cards := []Card{*p.o.Card}
	for _, c := range Cards() {
		if c.Name != p.o.Card.Name && slices.Contains(comparedCards, c.Name) {
			cards = append(cards, c)
		}
	}
	var sums []*engine.CardTimes
	for _, c := range cards {
		sums = append(sums, engine.NewCardTimes(c.Speed, p.cfg.Run.FP16))
	}
	for _, b := range e.Batches {
		program, err := p.library.Program(b)
		if err != nil {
			return nil, err
		}
		for _, sum := range sums {
			if err := sum.Add(program); err != nil {
				return nil, err
			}
		}
	}
	weights := int(p.replica.Usage().Gradients / op.Float32.Bytes())
	for i, c := range cards {
		sums[i].AddUpdate(weights, op.CardUpdate([]int{weights}, p.cfg.Run.FP16, p.cfg.Tuning().Averages).Launches)
		list = append(list, PlanTimes{Card: c.Name, Title: c.Title, Passes: len(e.Batches), All: sums[i].Total(), Ops: sums[i].Rows()})
	}
	return list, nil
}

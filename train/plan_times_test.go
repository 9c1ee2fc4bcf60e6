package train

import (
	"math"
	"testing"
)

// A plan for a card estimates the update with its largest pass there and on other cards; where passes are smaller, the
// update has more of them, and takes longer.
func TestTimesOfAPlan(t *testing.T) {
	cfg := plain(tiny(t, ""))
	cfg.Run.CPUWorkers, cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 0, 4, 2
	o := PlanOptions{Seconds: 3, TokensPerSecond: 4}
	if r := mustPlan(t, cfg, o); r.Times != nil {
		t.Errorf("a plan for cores has times of cards: %+v", r.Times)
	}
	card, err := FindCard("t4")
	if err != nil {
		t.Fatal(err)
	}
	o.Card = &card
	large := mustPlan(t, cfg, o)
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum = 1, 8
	small := mustPlan(t, cfg, o)
	var names []string
	for i, x := range large.Times {
		names = append(names, x.Card)
		sum := 0.0
		for _, row := range x.Ops {
			sum += row.Seconds
		}
		if math.Abs(sum-x.All.Seconds) > 1e-9*sum || x.Passes != 2 || !(x.All.Eager > x.All.Seconds) {
			t.Errorf("%s: %d passes, %g s, the ops come to %g s, PyTorch's %g s", x.Card, x.Passes, x.All.Seconds, sum, x.All.Eager)
		}
		if y := small.Times[i]; y.Passes != 8 || !(y.All.Seconds > x.All.Seconds) {
			t.Errorf("%s: %d small passes take %g s, %d large ones %g s", y.Card, y.Passes, y.All.Seconds, x.Passes, x.All.Seconds)
		}
	}
	if len(names) != 3 || names[0] != "t4" || names[1] != "p100" || names[2] != "h100" {
		t.Errorf("times of %v, want those of the t4 and of others beside it", names)
	}
	card, err = FindCard("l4")
	if err != nil {
		t.Fatal(err)
	}
	if r := mustPlan(t, cfg, o); len(r.Times) != 4 || r.Times[0].Card != "l4" {
		t.Errorf("times beside an l4: %+v", r.Times)
	}
	card.Speed.Bytes = 0
	if r := mustPlan(t, cfg, o); r.Times != nil {
		t.Errorf("times of a card whose speed isn't known: %+v", r.Times)
	}
}

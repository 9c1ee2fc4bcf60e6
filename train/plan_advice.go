package train

import (
	"fmt"
	"slices"
	"strings"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
)

// advice lists what would let a run that doesn't fit train. Each was planned too.
func (p *planner) advice() (list []string, err error) {
	if p.fit().Rigid {
		if list, err = p.otherBatches(); err != nil {
			return nil, err
		}
	}
	others, err := p.otherSettings()
	if err != nil {
		return nil, err
	}
	list = append(list, others...)
	if p.null.Room() == 0 {
		return append(list, fmt.Sprintf("a smaller network, or more memory: %s alone take %s",
			p.cfg.flatBuffers(), words.Binary(p.replica.Usage().Flat()))), nil
	}
	return append(append(list, p.withoutTheLongest()...), "more memory, or a smaller network"), nil
}

// withoutTheLongest says what fits where utterances are left out.
func (p *planner) withoutTheLongest() (list []string) {
	if p.o.Seconds > 0 {
		if s := p.longestMadeUp(); s > 0 {
			list = append(list, fmt.Sprintf("utterances of up to %.1f s", s))
		}
		return list
	}
	ofTraining := func(u *leftOut) bool { return u.training }
	scoring := slices.DeleteFunc(slices.Clone(p.passes.left), ofTraining)
	if p.fit().Rigid || len(scoring) < len(p.passes.left) {
		if s := p.longestThatFits(); s > 0 {
			list = append(list, fmt.Sprintf("max_duration %.1f lets the rest train", s))
		}
	}
	if len(scoring) > 0 {
		list = append(list, fmt.Sprintf("a manifest without what can't be scored: %s (%s)", scoring[0].ID, data.Where(scoring[0].File, scoring[0].Line)))
	}
	if len(p.passes.left) > 0 && !p.fit().Leave && !p.nothingFits(p.passes) {
		list = append(list, "on_oom skip, which leaves out what doesn't fit even alone")
	}
	return list
}

// otherBatches are the settings of micro-batch and recompute with which the run fits without auto_fit, up to the first
// that repeats nothing. Each has as many utterances in an update as are set.
func (p *planner) otherBatches() (list []string, err error) {
	for batch := p.cfg.Optimizer.BatchSize; batch >= 1; batch /= 2 {
		if p.cfg.Window()%batch != 0 {
			continue
		}
		for _, way := range p.cfg.Run.ways() {
			c := p.cfg
			c.Optimizer.BatchSize, c.Optimizer.GradAccum, c.Run.Recompute = batch, p.cfg.Window()/batch, way.String()
			total, err := p.totalUnder(c, p.workers)
			if err != nil {
				return nil, err
			}
			if total == 0 {
				continue
			}
			list = append(list, fmt.Sprintf("batch_size %d, grad_accum %d, recompute %v: fits, with %s in all", batch, c.Optimizer.GradAccum, way, words.Binary(total)))
			if way == engine.RecomputeNone {
				return list, nil
			}
			break
		}
	}
	return list, nil
}

// otherSettings are those with which the run fits, in float32 and with fp16, each with as many workers as can be.
func (p *planner) otherSettings() (list []string, err error) {
	now, workers := p.cfg.Run, p.workers
	seen := map[bool]bool{}
	for n := workers; n >= 1; n /= 2 {
		for _, half := range []bool{now.FP16, true} {
			if seen[half] {
				continue
			}
			var changes []string
			then := p.cfg
			set := func(differs bool, text string) {
				if differs {
					changes = append(changes, text)
				}
			}
			set(!now.AutoFit, "auto_fit true")
			set(now.Recompute != "auto", "recompute auto")
			set(half != now.FP16, "fp16")
			set(n != workers, fmt.Sprintf("cpu_workers %d", n))
			if len(changes) == 0 {
				continue // that is what doesn't fit
			}
			then.Run.AutoFit, then.Run.Recompute, then.Run.FP16 = true, "auto", half
			total, err := p.totalUnder(then, n)
			if err != nil {
				return nil, err
			}
			if total > 0 {
				seen[half] = true
				list = append(list, fmt.Sprintf("%s: fits, with %s in all", strings.Join(changes, ", "), words.Binary(total)))
			}
		}
	}
	return list, nil
}

// totalUnder is what the run holds with other settings and so many workers, in bytes; 0 where it doesn't fit. An update
// has the same utterances, so the windows are the same.
func (p *planner) totalUnder(cfg Config, workers int) (int64, error) {
	q := &planner{run: &run{cfg: cfg, base: p.base, buffersOnly: p.buffersOnly, sets: p.sets, net: p.net, report: p.report, ledger: p.ledger, library: p.library}, o: p.o, workers: workers}
	if err := q.count(); err != nil {
		return 0, err
	}
	defer q.replica.Close()
	if err := q.choose(); err != nil || !q.enough() {
		return 0, err
	}
	return q.totalWith(q.passes.most.bytes), nil
}

package train

import (
	"fmt"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// ways are the ways that the setting recompute allows, the one with the most memory first.
func (c RunConfig) ways() []engine.Recompute {
	switch c.Recompute {
	case "none":
		return []engine.Recompute{engine.RecomputeNone}
	case "blocks":
		return []engine.Recompute{engine.RecomputeBlocks}
	case "all":
		return []engine.Recompute{engine.RecomputeAll}
	}
	return []engine.Recompute{engine.RecomputeNone, engine.RecomputeBlocks, engine.RecomputeAll}
}

// alternative is a setting that a run could have, with its price for one window.
type alternative struct {
	batch     int
	recompute engine.Recompute
	update.Estimate
}

// alternatives are the settings that a window can be trained with, from the one with the largest micro-batches on, with
// their prices. Those that change neither bytes nor time are left out.
func (r *run) alternatives(rows []data.Length) ([]alternative, error) {
	var list []alternative
	last := map[engine.Recompute]int64{}
	for batch := r.cfg.Optimizer.BatchSize; batch >= 1; batch /= 2 {
		for _, recompute := range r.cfg.Run.ways() {
			runner := update.NewRunner(r.net, r.replica, batch)
			runner.Fit.Recompute, runner.Fit.Costs = []engine.Recompute{recompute}, r.fit().Costs
			e, err := runner.Estimate(rows, r.trainingAsk())
			if err != nil {
				return nil, err
			}
			if last[recompute] != e.Bytes {
				list = append(list, alternative{batch, recompute, e})
			}
			last[recompute] = e.Bytes
		}
	}
	return list, nil
}

func (r *run) trainingAsk() update.Ask {
	return update.Ask{Purpose: model.Training, Half: r.cfg.Run.FP16}
}

// total is what the process takes with arenas of so many bytes, in bytes.
func (r *run) totalWith(arena int64) int64 {
	d, u := r.pool.Usage(), r.replica.Usage()
	return d.Allocated + d.Held - u.Arenas + arena*int64(r.replica.Wishes().Workers)
}

// fittingSettings lists settings with which the pass at the peak would fit.
func (r *run) fittingSettings(p peak) (list []string, err error) {
	if p.loader != r.sets.loader {
		return nil, nil
	}
	all, err := r.alternatives(p.loader.Lengths(p.Epoch, p.Window, nil))
	for _, a := range all {
		if a.Bytes <= r.replica.Room() {
			list = append(list, r.settingText(a))
		}
	}
	return list, err
}

// settingText is a setting as flags, with its price. Nothing was measured where nothing may be chosen: no time is said.
func (r *run) settingText(a alternative) string {
	price := words.Bytes(r.totalWith(a.Bytes))
	if a.Seconds > 0 {
		price += ", " + seconds(a.Seconds) + " a window"
	}
	return fmt.Sprintf("--batch_size %d --grad_accum %d --recompute %v (%s)", a.batch, r.cfg.Window()/a.batch, a.recompute, price)
}

// sayChoice says what was chosen, where memory forced a choice, with the prices of what was not. whole is what the run
// would have sent through the network with room for everything, p what it will.
func (r *run) sayChoice(whole, p *passes) error {
	if r.fit().Limit() == 0 || len(p.training) == 0 || r.cfg.Run.measuring() {
		return nil
	}
	at := whole.most
	if at.loader != r.sets.loader {
		at = peak{whole.training[0], 0, r.sets.loader}
	}
	rows := at.loader.Lengths(at.Epoch, at.Window, nil)
	all, err := r.alternatives(rows)
	if err != nil {
		return err
	}
	r.report.say("memory: fitted to %s; %s an update, as set, whatever is chosen. The window with the largest pass (%s, %.1f s):",
		words.Bytes(r.pool.Usage().Limit), words.Count(r.cfg.Window(), "utterance"), at.utterance().ID, at.utterance().Duration)
	for _, a := range all {
		verdict := "fits"
		if a.Bytes > r.fit().Limit() {
			verdict = "doesn't fit"
		}
		r.report.say("  micro-batches of up to %-4d recompute %-7v %10s in all  %8s  %s", a.batch, a.recompute, words.Bytes(r.totalWith(a.Bytes)), seconds(a.Seconds), verdict)
	}
	chosen, err := r.updater.Runner.Estimate(rows, r.trainingAsk())
	if err != nil {
		return err
	}
	r.report.say("  chosen, shape by shape:            %20s in all  %8s  %s", words.Bytes(r.totalWith(chosen.Bytes)), seconds(chosen.Seconds), r.mixture(p.training))
	return nil
}

// mixture says how often values are computed again.
func (r *run) mixture(met []update.Met) string {
	var times [engine.RecomputeAll + 1]int
	sum := 0
	for _, m := range met {
		times[m.Recompute] += m.Times
		sum += m.Times
	}
	text := ""
	for way, n := range times {
		if n > 0 {
			text += fmt.Sprintf(", %v %.0f %%", engine.Recompute(way), 100*float64(n)/float64(sum))
		}
	}
	return fmt.Sprintf("recompute of %d micro-batches to come: %s", sum, text[2:])
}

// seconds is a time for people; nothing where it isn't known.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g s", s)
}

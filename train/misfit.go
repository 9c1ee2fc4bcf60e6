package train

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// What is said, and done, where a run doesn't fit its memory.

// refuseLeft refuses a run in which an utterance doesn't fit, unless it is to be left out and others are not.
func (r *run) refuseLeft(p *passes) error {
	if len(p.left) == 0 || r.fit().Leave && !r.nothingFits(p) {
		return nil
	}
	return r.tooLarge(p)
}

// nothingFits says whether there is nothing left to train on.
func (r *run) nothingFits(p *passes) bool {
	return len(p.training) == 0 && r.stretch(r.sets.loader).Count > 0
}

// sayLeft names the utterances that are left out for lack of memory.
func (r *run) sayLeft(p *passes) {
	for i, u := range p.left {
		if i == 5 {
			r.report.say("WARNING: left out for lack of memory: %s more", words.Count(len(p.left)-i, "utterance"))
			return
		}
		r.report.say("WARNING: left out for lack of memory (on_oom skip): %s (%s), %.1f s", u.ID, data.Where(u.File, u.Line), u.Duration)
	}
}

// tooLarge explains that utterances don't fit even alone: which the longest is, and what would let the rest through.
func (r *run) tooLarge(p *passes) error {
	list := p.left
	u := list[0]
	for _, other := range list {
		if other.Duration > u.Duration {
			u = other
		}
	}
	need, err := r.least(u)
	if err != nil {
		return err
	}
	room := r.fit().Limit()
	left := words.Bytes(room) + " are left"
	if room <= 1 {
		left = "nothing is left"
	}
	what := fmt.Sprintf("%s (%s) has %.1f s, and a pass over it alone takes %s of memory%s, where %s",
		u.ID, data.Where(u.File, u.Line), u.Duration, words.Bytes(need), r.forEach(), left)
	if d := r.pool.Usage(); d.Limit > 0 {
		what += fmt.Sprintf(" of %s (%s)", words.Bytes(d.Limit), r.limitFrom)
	}
	if len(list) > 1 {
		what += fmt.Sprintf("; %s more don't fit either", words.Count(len(list)-1, "utterance"))
	}
	advice := []string{"leave it out of its manifest"}
	if u.training {
		if fits := r.longestThatFits(); fits > 0 {
			advice = []string{fmt.Sprintf("leave it out: max_duration %.1f lets the rest train", fits)}
		} else {
			advice = nil
		}
	}
	if !r.fit().Leave && !r.nothingFits(p) {
		advice = append(advice, "on_oom skip leaves out what doesn't fit")
	}
	advice = append(advice, "use a smaller network"+r.orFewerWorkers()+", or "+r.moreMemory())
	return lacking(fmt.Errorf("%s; %s", what, strings.Join(advice, "; or ")))
}

// least is what a pass over an utterance alone takes at the least, in bytes of each arena.
func (r *run) least(u *leftOut) (int64, error) {
	row := u.loader.Lengths(u.place.Epoch, u.place.Window, nil)[u.place.Row]
	purpose := model.Scoring
	if u.training {
		purpose = model.Training
	}
	return r.updater.Runner.Least(row, update.Ask{Purpose: purpose, Half: r.cfg.Run.FP16})
}

// longestThatFits is the largest max_duration, in tenths of a second, with which all of training fits; 0 where there is
// none.
func (r *run) longestThatFits() float64 {
	limits := r.maxDurations()
	n := sort.Search(len(limits), func(i int) bool { return !r.fits(limits[i]) })
	if n == 0 {
		return 0
	}
	return limits[n-1]
}

// fits says whether the passes of a run with this max_duration fit into memory: its windows, and with them the shapes,
// are not those of a run with all utterances.
func (r *run) fits(maxDuration float64) bool {
	const rounding = 1e-6 // s, that package data leaves to a limit
	all := r.sets.train
	set := all.Select(func(i int) bool { return all.Duration(i) <= maxDuration+rounding })
	loader, err := r.trainingLoader(set)
	return err == nil && r.loadFits(loader)
}

// loadFits says whether training on what a loader gives fits into memory.
func (r *run) loadFits(loader *data.Loader) bool {
	var p passes
	_, err := r.list(&p, loader, r.stretch(loader), update.Ask{Purpose: model.Training, Half: r.cfg.Run.FP16})
	return err == nil && len(p.left) == 0 && p.most.bytes <= r.replica.Room()
}

// misfit is the error of a run that doesn't fit and may not be fitted, or can't be.
func (r *run) misfit(err error, p peak) error {
	var oom *device.OutOfMemory
	if !errors.As(err, &oom) || p.loader == nil {
		return err
	}
	oom.Planned = r.totalWith(p.bytes)
	u := p.utterance()
	text := fmt.Sprintf("the largest pass, over %s of up to %.1f s (%s: %s), takes %s of memory%s",
		words.Count(p.Batch, "utterance"), u.Duration, u.ID, data.Where(u.File, u.Line), words.Bytes(p.bytes), r.forEach())
	fitting, failed := r.fittingSettings(p)
	switch {
	case failed != nil:
		return errors.Join(err, failed)
	case len(fitting) > 0:
		return lacking(fmt.Errorf("%s: %w; what would fit: %s; auto_fit chooses among them by itself", text, err, strings.Join(fitting, "; ")))
	}
	return lacking(fmt.Errorf("%s: %w; no other micro-batch or recompute fits: use a smaller network or max_duration%s, or %s",
		text, err, r.orFewerWorkers(), r.moreMemory()))
}

// withMemoryAdvice adds which settings need less, where an error is about memory.
func (r *run) withMemoryAdvice(err error) error {
	var oom *device.OutOfMemory
	if !errors.As(err, &oom) || errors.Is(err, ErrOutOfMemory) {
		return err
	}
	switch {
	case oom.Advice != "":
	case oom.Limit > 0 && oom.Held >= oom.Limit:
		oom.Advice = fmt.Sprintf("the limit is that of %s, and the program itself, with the sets' lists, takes more than that: %s", r.limitFrom, r.moreMemory())
	default:
		fewer := r.orFewerWorkers()
		if fewer != "" {
			fewer = "," + fewer
		}
		oom.Advice = fmt.Sprintf("the limit is that of %s; use a smaller network, batch_size or max_duration%s, or %s",
			r.limitFrom, fewer, r.moreMemory())
	}
	return lacking(err)
}

// moreMemory is the advice to allow more, by what sets the limit.
func (r *run) moreMemory() string {
	switch fraction := strings.HasPrefix(r.limitFrom, "memory_fraction "); {
	case fraction && r.cfg.Run.MemoryLimit != "auto":
		return "raise memory_fraction or memory_limit"
	case fraction:
		return "raise memory_fraction"
	}
	return "raise memory_limit"
}

// orFewerWorkers is advice for a CPU: a card is one worker.
func (r *run) orFewerWorkers() string {
	if r.onCard() {
		return ""
	}
	return " or fewer cpu_workers"
}

// whoTakes is what has an arena.
func (r *run) whoTakes() string {
	if r.onCard() {
		return "a pass"
	}
	return "each worker"
}

// forEach says of an arena's bytes whose they are.
func (r *run) forEach() string {
	if r.onCard() {
		return " on " + r.device.Name
	}
	return " for each worker"
}

package train

import (
	"errors"
	"math"
	"runtime"
	"slices"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// chooseWorkers is the number of compute workers. A card is one. On a CPU it is what is set, else one for each core, or
// as many as leave room for a pass over the longest utterance. Each has gradients and an arena of its own; one more is
// worth more than what is computed again for its sake, so that only what doesn't fit at all makes them fewer.
func (r *run) chooseWorkers(lib *engine.Library[update.Variant]) (int, error) {
	if r.onCard() {
		return 1, nil
	}
	if n := r.cfg.Run.CPUWorkers; n > 0 {
		return n, nil
	}
	cores := runtime.GOMAXPROCS(0)
	if r.pool.Usage().Limit == 0 || !r.cfg.Run.AutoFit {
		return cores, nil
	}
	for n := cores; n > 1; n-- {
		fits, err := r.workersFit(lib, n)
		if err != nil {
			return 0, err
		}
		if fits {
			if n < cores {
				r.report.say("memory: %s, not one for each of %d cores: more don't fit", words.Count(n, "worker"), cores)
			}
			return n, nil
		}
	}
	if cores > 1 {
		r.report.say("memory: 1 worker, not one for each of %d cores: more don't fit", cores)
	}
	return 1, nil
}

// workersFit says whether a pass over the longest utterance of each set fits beside what so many workers hold.
func (r *run) workersFit(lib *engine.Library[update.Variant], workers int) (bool, error) {
	u := r.pool.Usage()
	under := device.NewPool(device.NewNull(0), u.Limit)
	_ = under.Hold("what the process holds", u.Held) // too much of it leaves no room, which is seen below
	null, err := engine.NewNull(under, lib, workers, true)
	var oom *device.OutOfMemory
	if errors.As(err, &oom) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer null.Close()
	runner := update.NewRunner(r.net, null, 1)
	runner.Fit.Recompute = r.cfg.Run.ways()
	room := null.Room()
	if !r.buffersOnly {
		room -= null.Usage().Workspaces / int64(workers) // they come to lie on Go's heap
	}
	for i, s := range []*scored{{set: r.sets.train}, r.sets.val, r.sets.test} {
		if s == nil {
			continue
		}
		ask := update.Ask{Purpose: model.Scoring}
		if i == 0 {
			ask = r.trainingAsk()
		}
		need, err := runner.Least(r.longestRow(s.set, i == 0), ask)
		if err != nil || need > room {
			return false, err
		}
	}
	return true, nil
}

// longestRow is the longest that an utterance of a set can be, at the slowest speed in training.
func (r *run) longestRow(s *data.Set, training bool) data.Length {
	longest := 0
	for i := range s.Len() {
		if s.Frames(i) > s.Frames(longest) {
			longest = i
		}
	}
	slowest := 1.0
	if speeds := r.cfg.Augment().Speeds; training && len(speeds) > 0 {
		slowest = min(1, slices.Min(speeds))
	}
	return data.Length{Frames: int(math.Ceil(float64(s.Frames(longest)) / slowest)), Tokens: s.Tokens(longest)}
}

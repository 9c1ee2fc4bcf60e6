package update

import (
	"errors"
	"math"
	"sync"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/model"
)

// Fit chooses, for each batch shape, the fastest way to compute it in the memory there is. All runners of a replica
// share one. What it chooses is a function of its options, the limit and the costs alone, never of the moment: so
// shapes are known before they are met, and a resumed run with the same three deals as before.
//
// Its fields may be set before the first pass.
type Fit struct {
	// Recompute are the ways that a backward pass may be made, the one with the most memory first. Empty:
	// engine.RecomputeNone.
	Recompute []engine.Recompute
	// Rigid asks for the first way and the largest micro-batches whatever they take: where there is no room for them, the
	// pass is an error.
	Rigid bool
	// Leave leaves an utterance out that doesn't fit even alone. Without it that is an error.
	Leave bool
	// Costs tell what is fast. Nil: floating-point operations do.
	Costs *engine.Costs
	// Relieved, if set, is told what was done for a pass for which there was no memory.
	Relieved func(Relief)

	replica Replica
	limit   int64 // bytes of each arena that may not be passed; 0: none
	lack    error // the last one that was relieved

	mu   sync.Mutex
	ways map[Variant]way
}

// way is how a shape is computed, if it can be.
type way struct {
	recompute engine.Recompute
	seconds   float64 // of one core; in operations where nothing was measured
	fits      bool
	least     int64 // bytes that the way with the least memory takes
}

// NewFit is for passes over a replica, without a limit.
func NewFit(r Replica) *Fit { return &Fit{replica: r, ways: map[Variant]way{}} }

// Limit is the most bytes that each arena may have, 0 without a limit.
func (f *Fit) Limit() int64 { return f.limit }

// SetLimit sets it. Shapes that were listed under another limit are not those that will be met.
func (f *Fit) SetLimit(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = bytes
	clear(f.ways)
}

// first is the way that is taken where there is room.
func (f *Fit) first(p model.Purpose) engine.Recompute {
	if p != model.Training || len(f.Recompute) == 0 {
		return engine.RecomputeNone
	}
	return f.Recompute[0]
}

// room is the limit as a number to compare with.
func (f *Fit) room() int64 {
	if f.limit == 0 || f.Rigid {
		return math.MaxInt64
	}
	return f.limit
}

// way finds the fastest way for a shape that fits. With room for everything nothing has to be known of it.
func (f *Fit) way(ask Ask, s model.Shape) (way, error) {
	if f.room() == math.MaxInt64 {
		return way{recompute: f.first(ask.Purpose), fits: true}, nil
	}
	return f.fastest(ask, s)
}

func (f *Fit) fastest(ask Ask, s model.Shape) (way, error) {
	key := ask.variant(s, engine.RecomputeNone)
	f.mu.Lock()
	w, known := f.ways[key]
	f.mu.Unlock()
	if known {
		return w, nil
	}
	w, err := f.find(ask, s, f.room())
	if err == nil {
		f.mu.Lock()
		f.ways[key] = w
		f.mu.Unlock()
	}
	return w, err
}

func (f *Fit) find(ask Ask, s model.Shape, room int64) (best way, err error) {
	ways := f.Recompute
	if ask.Purpose != model.Training || len(ways) == 0 {
		ways = []engine.Recompute{engine.RecomputeNone}
	}
	best.least = math.MaxInt64
	for i, r := range ways {
		prices, err := f.replica.Prices([]Variant{ask.variant(s, r)})
		if err != nil {
			return way{}, err
		}
		p := prices[0]
		best.least = min(best.least, p.Bytes)
		if t := f.seconds(p); p.Bytes <= room && (!best.fits || t < best.seconds) {
			best.recompute, best.seconds, best.fits = r, t, true
		}
		if i == 0 && best.fits && room < math.MaxInt64 {
			break // what repeats nothing is the fastest
		}
	}
	return best, nil
}

// seconds is the time of one run, or what stands for it.
func (f *Fit) seconds(p engine.Price) float64 {
	if f.Costs == nil {
		return p.FLOPs
	}
	return f.Costs.Seconds(p)
}

// Relief is what was done for a pass for which there was no memory.
type Relief struct {
	Rung  Rung
	Err   error // what the memory was lacking for
	Limit int64 // of Lowered: the most bytes of each arena from now on
}

// Rung is one of the things that can be done, in this order.
type Rung uint8

// The rungs.
const (
	Trimmed Rung = iota // idle memory was given back
	Dropped             // and all programs with it
	Lowered             // arenas are smaller from now on: smaller micro-batches, or values are computed again
)

// Relieve does the next thing for what failed with err, where that is for lack of memory: rung counts from 0 for what
// is tried again and again. need is what its largest micro-batch takes, in bytes. It says whether to try once more.
func (f *Fit) Relieve(rung int, err error, need int64) bool {
	var oom *device.OutOfMemory
	if !errors.As(err, &oom) {
		return false
	}
	f.lack = err
	r := Relief{Rung: min(Rung(rung), Lowered), Err: err}
	switch r.Rung {
	case Trimmed:
		f.replica.Trim()
	case Dropped:
		f.replica.Forget()
		f.replica.Trim()
	case Lowered:
		if f.Rigid || need == 0 {
			return false
		}
		r.Limit = f.lower(need)
		f.SetLimit(r.Limit)
	}
	if f.Relieved != nil {
		f.Relieved(r)
	}
	return true
}

// lower is a limit under which something else is tried than what takes need bytes: what there is room for, as far as
// that is known, or what the arenas hold already; where neither is less than was refused, an eighth less than that.
func (f *Fit) lower(need int64) int64 {
	have := f.replica.Room()
	if have >= need {
		have = f.replica.Usage().Arenas / int64(f.replica.Wishes().Workers)
	}
	if have >= need || have <= 0 {
		have = need * 7 / 8
	}
	return max(have, 1)
}

// Yield gives back what arenas hold above what the device has room for now, because its limit was lowered meanwhile,
// and says so. Passes fit what is left from then on.
func (f *Fit) Yield() bool {
	room := f.replica.Room()
	arenas := f.replica.Usage().Arenas / int64(f.replica.Wishes().Workers)
	if arenas <= room {
		return false
	}
	f.replica.Shrink(room)
	f.SetLimit(max(room, 1))
	return true
}

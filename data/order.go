package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"konkanitrain/internal/philox"
)

// siteOrder and siteShare tell the draws of the order, and of what an epoch has of a share, from other draws of the
// same seed.
const (
	siteOrder = 1
	siteShare = 2
)

// groupWindows is how many windows share one sorting by length: enough that the utterances of a window are
// alike, few enough that windows differ from epoch to epoch.
const groupWindows = 8

// Order says which utterances make up each window of each epoch. It is a pure function of the lengths, the window, the
// seed and the number of sorted epochs: any place is found without playing through what came before. An Order may be
// used by several goroutines.
type Order struct {
	lengths []int32
	shares  []share // nil: an epoch has each utterance once
	total   int     // utterances in an epoch
	window  int
	sorted  int // so many epochs go from short utterances to long ones before all others
	seed    uint64

	mu     sync.Mutex
	tables [2]epochTable // of the epochs asked for last: reading ahead touches two
	turn   int
}

type epochTable struct {
	epoch int
	order []int32 // nil: none yet
}

// NewOrder makes the order of len(lengths) utterances in windows of window utterances (the batch size times
// the accumulation). lengths are feature frames at speed 1; the Order keeps them.
func NewOrder(lengths []int32, window int, seed uint64) (*Order, error) {
	if len(lengths) == 0 {
		return nil, fmt.Errorf("order: no utterances")
	}
	if window < 1 {
		return nil, fmt.Errorf("order: a window of %d utterances; batch size and accumulation must be 1 or more", window)
	}
	return &Order{lengths: lengths, total: len(lengths), window: window, seed: seed}, nil
}

// share is utterances that an epoch has all the same number of times.
type share struct {
	members []int32
	whole   int     // times that an epoch has each, and
	part    float64 // the share of them that it has once more
}

// drawn is how many of the members an epoch has once more.
func (s share) drawn() int { return int(math.Round(s.part * float64(len(s.members)))) }

// newShared makes the order of utterances that come more or less often than once in an epoch; of its epochs the first
// sorted ones go from short to long. Window then gives what is an utterance's place plus, for its second time in the
// epoch, the number of lengths, and so on: see occurrence. How many there are is the same in every epoch; which are
// drawn is a function of the seed and the epoch.
func newShared(lengths []int32, shares []share, window, sorted int, seed uint64) (*Order, error) {
	o, err := NewOrder(lengths, window, seed)
	if err != nil {
		return nil, err
	}
	if o.sorted = sorted; shares == nil {
		return o, nil
	}
	o.shares, o.total = shares, 0
	for _, s := range shares {
		o.total += s.whole*len(s.members) + s.drawn()
	}
	if o.total == 0 {
		return nil, errors.New("order: with these weights no utterance is left in an epoch; give larger ones")
	}
	return o, nil
}

// occurrence is the utterance that an entry of a Window stands for, and how often the epoch had it before.
func (o *Order) occurrence(entry int32) (utterance, before int) {
	return int(entry) % len(o.lengths), int(entry) / len(o.lengths)
}

// entries lists what an epoch has, before it is shuffled; nil for each utterance once.
func (o *Order) entries(epoch int) []int32 {
	if o.shares == nil {
		return nil
	}
	draw := philox.NewStream(philox.Key(o.seed, uint64(epoch)), siteShare)
	list := make([]int32, 0, o.total)
	for _, s := range o.shares {
		for k := range s.whole {
			for _, i := range s.members {
				list = append(list, int32(k*len(o.lengths))+i)
			}
		}
		if n := s.drawn(); n > 0 {
			places := draw.Perm(len(s.members))[:n]
			slices.Sort(places)
			for _, p := range places {
				list = append(list, int32(s.whole*len(o.lengths))+s.members[p])
			}
		}
	}
	return list
}

// Windows is the number of windows, and so of updates, in an epoch; the last may hold fewer utterances.
func (o *Order) Windows() int { return (o.total + o.window - 1) / o.window }

// Window lists the utterances of window k, 0 <= k < Windows(), of an epoch, 0 or more. The result must not be
// changed. Outside these bounds it is empty.
//
// An epoch holds each utterance once. It is shuffled; groups of 8 windows are sorted by length and cut into
// windows; the windows are shuffled. What is left over for the partial window is taken from the end of the
// first shuffle, so that it is a fair sample too, and the partial window is the last.
//
// A sorted epoch is one group: all utterances go from short to long, equal lengths as they were shuffled, and windows
// stay in this order (SortaGrad: Amodei et al. 2016, section 3.2). The partial window is the last here too, and has the
// longest.
func (o *Order) Window(epoch, k int) []int32 {
	if epoch < 0 || k < 0 || k >= o.Windows() {
		return nil
	}
	t := o.table(epoch)
	return t[k*o.window : min((k+1)*o.window, len(t))]
}

func (o *Order) table(epoch int) []int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.tables {
		if t.order != nil && t.epoch == epoch {
			return t.order
		}
	}
	t := o.build(epoch)
	o.tables[o.turn] = epochTable{epoch, t}
	o.turn = 1 - o.turn
	return t
}

func (o *Order) build(epoch int) []int32 {
	draw := philox.NewStream(philox.Key(o.seed, uint64(epoch)), siteOrder)
	n := o.total
	entries, shuffled := o.entries(epoch), make([]int32, n)
	for i, j := range draw.Perm(n) {
		shuffled[i] = int32(j)
		if entries != nil {
			shuffled[i] = entries[j]
		}
	}
	if epoch < o.sorted {
		return o.byLength(shuffled)
	}
	whole := n / o.window
	full := shuffled[:whole*o.window]
	for g := range slices.Chunk(full, groupWindows*o.window) {
		slices.SortStableFunc(g, func(a, b int32) int { return cmp.Compare(o.length(a), o.length(b)) })
	}
	out := make([]int32, 0, n)
	for _, w := range draw.Perm(whole) {
		out = append(out, full[w*o.window:(w+1)*o.window]...)
	}
	return append(out, shuffled[len(full):]...)
}

// byLength lists entries from short to long, equal lengths in the order in which they are: in 8 bytes each beside the
// list, and without a call for each comparison, as a set may have millions.
func (o *Order) byLength(entries []int32) []int32 {
	keys := make([]uint64, len(entries)) // length, place
	for i, e := range entries {
		keys[i] = uint64(o.length(e))<<32 | uint64(i)
	}
	slices.Sort(keys)
	out := make([]int32, len(entries))
	for k, key := range keys {
		out[k] = entries[uint32(key)]
	}
	return out
}

func (o *Order) length(entry int32) int32 { return o.lengths[int(entry)%len(o.lengths)] }

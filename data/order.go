package data

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"konkanitrain/internal/philox"
)

// siteOrder tells the draws of the order from other draws of the same seed.
const siteOrder = 1

// groupWindows is how many windows share one sorting by length: enough that the utterances of a window are
// alike, few enough that windows differ from epoch to epoch.
const groupWindows = 8

// Order says which utterances make up each window of each epoch. It is a pure function of the lengths, the
// window and the seed: any place is found without playing through what came before. An Order may be used by
// several goroutines.
type Order struct {
	lengths []int32
	window  int
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
	return &Order{lengths: lengths, window: window, seed: seed}, nil
}

// Windows is the number of windows, and so of updates, in an epoch; the last may hold fewer utterances.
func (o *Order) Windows() int { return (len(o.lengths) + o.window - 1) / o.window }

// Window lists the utterances of window k, 0 <= k < Windows(), of an epoch, 0 or more. The result must not be
// changed. Outside these bounds it is empty.
//
// An epoch holds each utterance once. It is shuffled; groups of 8 windows are sorted by length and cut into
// windows; the windows are shuffled. What is left over for the partial window is taken from the end of the
// first shuffle, so that it is a fair sample too, and the partial window is the last.
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
	n := len(o.lengths)
	shuffled := make([]int32, n)
	for i, j := range draw.Perm(n) {
		shuffled[i] = int32(j)
	}
	whole := n / o.window
	full := shuffled[:whole*o.window]
	for g := range slices.Chunk(full, groupWindows*o.window) {
		slices.SortStableFunc(g, func(a, b int32) int { return cmp.Compare(o.lengths[a], o.lengths[b]) })
	}
	out := make([]int32, 0, n)
	for _, w := range draw.Perm(whole) {
		out = append(out, full[w*o.window:(w+1)*o.window]...)
	}
	return append(out, shuffled[len(full):]...)
}

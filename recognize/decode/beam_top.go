package decode

import (
	"cmp"
	"slices"
)

// candidate is what is ordered: a token of a frame, or a prefix with or without a token behind it.
type candidate struct {
	score  float64
	pb, pn float64
	order  int32 // of those with equal scores the lowest comes first; each has another one
	from   int32 // the prefix's place in the beam
	token  int32 // behind it, or nobody
}

func (c *candidate) before(d *candidate) bool {
	return c.score > d.score || c.score == d.score && c.order < d.order
}

// top keeps the best candidates of all that are offered: a heap with the worst of them at its root.
type top struct {
	limit int
	items []candidate
}

func (h *top) clear()         { h.items = h.items[:0] }
func (h *top) full() bool     { return len(h.items) == h.limit }
func (h *top) worst() float64 { return h.items[0].score }

// offer takes a candidate, if it is among the best.
func (h *top) offer(c candidate) {
	if !h.full() {
		h.items = append(h.items, c)
		h.up(len(h.items) - 1)
	} else if c.before(&h.items[0]) {
		h.items[0] = c
		h.down(0)
	}
}

func (h *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.items[parent].before(&h.items[i]) {
			return
		}
		h.items[parent], h.items[i] = h.items[i], h.items[parent]
		i = parent
	}
}

func (h *top) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			return
		}
		if right := child + 1; right < len(h.items) && h.items[child].before(&h.items[right]) {
			child = right
		}
		if !h.items[i].before(&h.items[child]) {
			return
		}
		h.items[i], h.items[child] = h.items[child], h.items[i]
		i = child
	}
}

// sort puts the best first; only clear may follow.
func (h *top) sort() {
	slices.SortFunc(h.items, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
}

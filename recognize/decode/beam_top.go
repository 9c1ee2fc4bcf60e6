package decode

import (
	"cmp"
	"slices"
)

// candidate is a prefix, as it is or with a token behind it, that may be in the beam.
type candidate struct {
	score  float64
	pb, pn float64 // as in entry
	order  int64   // of those with equal scores the lowest comes first; each has another one
	from   int32   // the prefix's place in the beam
	token  int32   // behind it, or nobody
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

// choice is a token of a frame and its log-probability.
type choice struct {
	p  float64
	id int32
}

func (c choice) before(d choice) bool { return c.p > d.p || c.p == d.p && c.id < d.id }

// choices are the tokens of a frame by their log-probability, and equal ones by their ids. They are sorted as far as
// somebody asks: most prefixes need few.
type choices struct {
	limit  int
	sorted []choice
	rest   []choice // a heap with the best at its root
}

// set takes the tokens of a frame, [V], that are at least so likely, but for one.
func (c *choices) set(row []float32, least float64, but int32) {
	c.sorted, c.rest = c.sorted[:0], c.rest[:0]
	for id, x := range row {
		if p := float64(x); int32(id) != but && p >= least {
			c.rest = append(c.rest, choice{p, int32(id)})
		}
	}
	for i := len(c.rest)/2 - 1; i >= 0; i-- {
		c.down(i)
	}
}

// at is the one of this rank, from 0 on, and whether there is one within the limit.
func (c *choices) at(rank int) (choice, bool) {
	if rank >= c.limit {
		return choice{}, false
	}
	for rank >= len(c.sorted) {
		n := len(c.rest) - 1
		if n < 0 {
			return choice{}, false
		}
		c.sorted = append(c.sorted, c.rest[0])
		c.rest[0] = c.rest[n]
		c.rest = c.rest[:n]
		c.down(0)
	}
	return c.sorted[rank], true
}

func (c *choices) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(c.rest) {
			return
		}
		if right := child + 1; right < len(c.rest) && c.rest[right].before(c.rest[child]) {
			child = right
		}
		if !c.rest[child].before(c.rest[i]) {
			return
		}
		c.rest[i], c.rest[child] = c.rest[child], c.rest[i]
		i = child
	}
}

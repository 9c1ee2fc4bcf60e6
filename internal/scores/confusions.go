package scores

import (
	"cmp"
	"slices"

	"konkanitrain/data/text"
)

// Confusion is a token of references, what stood there in hypotheses, and how often. "" is nothing: the token was left
// out, or added.
type Confusion struct {
	Pair
	Count int `json:"count"`
}

// Confusions counts what was put against what.
type Confusions struct {
	counts    map[Pair]int
	edits     text.Counts
	uncounted int // errors that are none of counts
	most      int // different ones that are counted; 0 for mostConfusions
}

// mostConfusions is how many different ones are counted: their texts take some 100 MB.
const mostConfusions = 1 << 20

// Add counts an alignment.
func (c *Confusions) Add(pairs []Pair) {
	if c.counts == nil {
		c.counts = map[Pair]int{}
	}
	for _, p := range pairs {
		e := p.Edit()
		c.edits.Add(e.counts())
		if e == Same {
			continue
		}
		if c.counts[p] == 0 && len(c.counts) >= cmp.Or(c.most, mostConfusions) {
			c.uncounted++
			continue
		}
		c.counts[p]++
	}
}

// counts is a single edit as counts.
func (e Edit) counts() text.Counts {
	switch e {
	case Substituted:
		return text.Counts{Sub: 1, Ref: 1}
	case Deleted:
		return text.Counts{Del: 1, Ref: 1}
	case Inserted:
		return text.Counts{Ins: 1}
	}
	return text.Counts{Ref: 1}
}

// Common lists the commonest, at most so many; of equally common ones those that come first in the order of their code
// points. It is never nil.
func (c *Confusions) Common(most int) []Confusion {
	list := []Confusion{}
	for p, n := range c.counts {
		list = append(list, Confusion{p, n})
	}
	slices.SortFunc(list, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Hyp, b.Hyp))
	})
	return list[:min(len(list), max(most, 0))]
}

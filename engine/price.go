package engine

import (
	"cmp"
	"slices"

	"konkanitrain/op"
)

// Price is what one run of a program takes.
type Price struct {
	Bytes  int64   // of the arena
	FLOPs  float64 // floating-point operations
	Shares []Share // by op, in the order of their names; not to be changed
}

// Share is what the steps of one kind of op in a program come to.
type Share struct {
	Op    string
	Calls int
	FLOPs float64 // floating-point operations
	Bytes float64 // read and written, each operand once
}

// priceOf adds a program up.
func priceOf(p *Program) Price {
	price := Price{Bytes: p.ArenaBytes(), FLOPs: p.FLOPs()}
	at := map[string]int{}
	for _, s := range p.Steps {
		i, known := at[s.Op.Name]
		if !known {
			i = len(price.Shares)
			at[s.Op.Name] = i
			price.Shares = append(price.Shares, Share{Op: s.Op.Name})
		}
		w := &price.Shares[i]
		w.Calls++
		w.FLOPs += s.Op.FLOPs
		w.Bytes += float64(s.bytes())
	}
	slices.SortFunc(price.Shares, func(a, b Share) int { return cmp.Compare(a.Op, b.Op) })
	return price
}

// Costs are what ops cost on a machine, as measured there: a run's time follows from its price without running it.
type Costs struct {
	// Kernels are those that were measured: other ones cost other times.
	Kernels string `json:"kernels"`
	// Ops is the cost of each kind of op.
	Ops map[string]Cost `json:"ops"`
}

// Cost is that of one kind of op, in seconds of one core.
type Cost struct {
	FLOP float64 `json:"flop,omitempty"` // of a floating-point operation; 0 for ops that only move memory
	Byte float64 `json:"byte"`           // of a byte that is read or written
}

// Costs are those that a profile has measured.
func (p *Profile) Costs() *Costs {
	c := &Costs{Kernels: op.Kernels(), Ops: map[string]Cost{}}
	for name, r := range p.Rows {
		cost := Cost{Byte: r.Time.Seconds() / max(r.Bytes, 1)}
		if r.FLOPs > 0 {
			cost.FLOP = r.Time.Seconds() / r.FLOPs
		}
		c.Ops[name] = cost
	}
	return c
}

// Seconds is the time that one run of a program takes on one core. An op that was not measured costs, by the byte, what
// a middling one does that was.
func (c *Costs) Seconds(p Price) (sum float64) {
	for _, w := range p.Shares {
		switch cost, known := c.Ops[w.Op]; {
		case !known:
			sum += w.Bytes * c.middling()
		case cost.FLOP > 0:
			sum += w.FLOPs * cost.FLOP
		default:
			sum += w.Bytes * cost.Byte
		}
	}
	return sum
}

// middling is the median of what a byte costs.
func (c *Costs) middling() float64 {
	if len(c.Ops) == 0 {
		return 0
	}
	var all []float64
	for _, cost := range c.Ops {
		all = append(all, cost.Byte)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

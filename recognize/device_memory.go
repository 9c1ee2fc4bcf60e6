package recognize

import (
	"fmt"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/update"
)

// mostContext is the most of a card's memory that is taken for this process's context, in bytes. What is in use beyond
// that when a card is opened is another program's.
const mostContext = 1 << 30

// CardMemory is a card's memory as the driver counts it, for all programs together, in bytes.
type CardMemory struct {
	Free, Total int64
	Other       int64 // neither free nor in buffers of this process: contexts, and other programs
}

// Memory asks the driver. It is an error on the CPU, and where the card's context is lost.
func (d *Device) Memory() (CardMemory, error) {
	if d.Card == nil {
		return CardMemory{}, fmt.Errorf("device %s is no card", d.Name)
	}
	free, total, err := d.Card.Memory()
	if err != nil {
		return CardMemory{}, fmt.Errorf("the memory of %s: %w", d.Name, err)
	}
	return CardMemory{Free: free, Total: total, Other: max(total-free-d.Card.Usage().Reserved, 0)}, nil
}

// Context is what this process holds of a card's memory beside its buffers, in bytes: about what the driver's context
// took when the card was opened.
func (d *Device) Context() int64 { return d.context }

// What is left free of a card's memory: the driver takes more of it when kernels are loaded and graphs made, and no
// call says how much that will be. A sixty-fourth, in these bounds.
const (
	leastMargin = 64 << 20 // bytes
	mostMargin  = 512 << 20
)

// CardBudget is the most bytes of a card's memory that this process may hold in all, its context included, and why: a
// limit that is given, a fraction of that or of the card's whole memory, and never more than what is free now or this
// process's already, less a margin.
func (c Memory) CardBudget(d *Device) (bytes int64, why string, err error) {
	now, err := d.Memory()
	if err != nil {
		return 0, "", err
	}
	margin := min(max(now.Total/64, leastMargin), mostMargin, now.Total/8)
	bytes = max(d.Context()+now.Free-margin, 1)
	why = fmt.Sprintf("%s of the card's %s are free or this program's", words.Binary(d.Context()+now.Free), words.Binary(now.Total))
	asked, what, err := c.given()
	if err == nil && asked == 0 && c.Fraction > 0 {
		asked, what = ShareOf(c.Fraction, now.Total), fmt.Sprintf("memory_fraction %g of the card's %s", c.Fraction, words.Binary(now.Total))
	}
	if asked > 0 && asked < bytes {
		bytes, why = asked, what
	}
	return bytes, why, err
}

// Pools are where buffers come from, under limits.
type Pools struct {
	Replica *device.Pool // of the memory that the replica computes in
	Host    *device.Pool // of the host's: all that the process holds there counts in it. On the CPU it is Replica
	Why     string       // of Replica's limit
}

// Trim gives what is idle back, and says how much that is, in bytes.
func (p Pools) Trim() int64 {
	bytes := p.Replica.Trim()
	if p.Host != p.Replica {
		bytes += p.Host.Trim()
	}
	return bytes
}

// Pools makes them: under the limit that m gives, and on a card under what this machine leaves on the host. under is
// the host's memory.
func (d *Device) Pools(m Memory, under device.Device) (p Pools, err error) {
	if d.Card == nil {
		limit, why, err := m.Budget()
		p.Host = device.NewPool(under, limit)
		p.Replica, p.Why = p.Host, why
		return p, err
	}
	host, _, err := Memory{}.Budget()
	if err != nil {
		return p, err
	}
	limit, why, err := m.CardBudget(d)
	if err != nil {
		return p, err
	}
	p.Host, p.Replica, p.Why = device.NewPool(under, host), device.NewPool(d.Card, limit), why
	_ = p.Replica.Hold("the driver's context", d.Context()) // where it is too much there is no room for weights, which is said
	return p, nil
}

// NewReplica makes the replica that computes on the device, on the CPU of so many workers, one for each core if it is
// 0. lib is that of a network on the device's target. With half there may be programs in half precision, with train
// there are gradients and moments.
func (d *Device) NewReplica(p Pools, lib *engine.Library[update.Variant], workers int, half, train bool) (update.Replica, error) {
	if d.Card != nil {
		card, err := engine.NewCard(d.Card, p.Replica, lib, half, train)
		if err != nil {
			return nil, err
		}
		return card, nil
	}
	crew, err := engine.NewCrew(p.Replica, lib, workers, train)
	if err != nil {
		return nil, err
	}
	return crew, nil
}

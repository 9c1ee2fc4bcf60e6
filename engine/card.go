package engine

import (
	"math"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
)

// Card is the replica on a card. A pass is queued batch by batch without waiting in between, and an update can be as a
// whole (Learn): inputs go from pinned memory to the card while the batch before is computed, and what comes out is
// read once everything is done.
//
// A program is bound to addresses, so that a run is one list of launches. Gradients of all batches are added up in one
// float32 buffer, which is cleared before a window.
type Card[K comparable] struct {
	*holding[K]
	card      cuda.Card
	bound     map[*Program]*boundProgram
	lists     lists
	stages    [2]stage // of the window that runs, and of the next one
	current   int      // the first of them
	results   stage    // what comes out
	drifting  bool     // inputs are on their way that nobody will use
	roomAhead int64    // bytes at the end of the arena that no program of the pass at hand uses
	fixed     cuda.Pinned
	profile   *Profile // nil: nothing is measured

	runs    int  // with gradients, since the last Reduce
	reduced bool // Reduce has left a gradient
	stale   bool // the float16 copy of the weights is older than they are
	odd     int  // the first weight that is not finite, -1 for none, as of the last update; unknown where it is
}

// unknown says that nobody has looked since the weights changed.
const unknown = math.MinInt

// The pinned memory of fixed size, in bytes: the status that comes back, and the constants of a step.
const (
	fixedStatus    = 0
	fixedConstants = align
)

// fixedBytes is its size.
func (c *Card[K]) fixedBytes() int64 { return aligned(fixedConstants + constantBytes(c.layout)) }

// NewCard is a replica on a card. Its buffers are allocated from dev, the card itself or a pool over it. With half
// there is a float16 copy of the weights, which programs in half precision read; with train there are gradients and
// moments.
func NewCard[K comparable](card cuda.Card, dev device.Device, lib *Library[K], half, train bool) (*Card[K], error) {
	h, err := hold(dev, lib, 1, train, &cardMemory{half: half})
	if err != nil {
		return nil, err
	}
	c := &Card[K]{holding: h, card: card, bound: map[*Program]*boundProgram{}, odd: unknown, stale: half}
	c.programs.Dropped = c.forget
	if err := c.start(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// start fills what never changes, and binds the work on flat buffers.
func (c *Card[K]) start() error {
	var err error
	if c.fixed, err = c.card.Pinned(c.fixedBytes(), "constants and status of a step"); err != nil {
		return err
	}
	if _, err := c.extra.small.WriteAt(bytesOf(theOne[:]), oneAt); err != nil {
		return err
	}
	if c.train {
		if _, err := c.extra.flags.WriteAt(decayFlags(c.layout), 0); err != nil {
			return err
		}
	}
	return c.bindFlat()
}

// Wishes are one worker, whole micro-batches, as large as they may be.
func (c *Card[K]) Wishes() Wishes { return Wishes{Workers: 1, Rows: math.MaxInt} }

// Prepare compiles, makes the arena large enough, and binds each batch's program to it.
func (c *Card[K]) Prepare(batches []Batch[K], bytes int64) error {
	if err := c.land(batches, bytes); err != nil {
		return err
	}
	moved, err := c.prepare(batches, bytes)
	if moved {
		c.unbind()
	}
	if err != nil {
		return err
	}
	if moved, err = c.tablesOf(batches); err != nil {
		c.unbind()
		return err
	}
	if moved {
		c.unbind()
	}
	var inputs, results int64
	for _, b := range batches {
		p, err := c.programs.Get(b.Key)
		if err != nil {
			return err
		}
		if _, err := c.bind(p); err != nil {
			return err
		}
		inputs += aligned(p.InputBytes)
		results += p.outputBytes()
	}
	// No copy is under way from or to these two.
	return c.each(
		func() error { return c.stages[c.current].reserve(c.card, inputs, "inputs of a pass") },
		func() error { return c.results.reserve(c.card, results, "outputs of a pass") },
	)
}

// land waits for inputs on their way to an arena that is too small for what is to be prepared: it is about to be given
// back. They are sent again.
func (c *Card[K]) land(batches []Batch[K], bytes int64) error {
	next := &c.stages[1-c.current]
	if !next.prefetched {
		return nil
	}
	for _, b := range batches {
		p, err := c.programs.Get(b.Key)
		if err != nil {
			return err
		}
		bytes = max(bytes, p.ArenaBytes())
	}
	if bytes <= c.arenas[0].Size() {
		return nil
	}
	next.prefetched = false
	return c.wait(nil)
}

// tablesOf has the tables made that batches read, and copied to the card.
func (c *Card[K]) tablesOf(batches []Batch[K]) (moved bool, err error) {
	for _, b := range batches {
		p, err := c.programs.Get(b.Key)
		if err != nil {
			return false, err
		}
		if c.bound[p] != nil {
			continue
		}
		for _, s := range p.Steps {
			for _, in := range s.In {
				if in.Space == Shared {
					c.net.Table(in.Name, in.Type.Shape)
				}
			}
		}
	}
	return c.extra.keepTables(c.dev, c.net.Tables())
}

// MakeTables makes the tables of constants that a program reads.
func (c *Card[K]) MakeTables(key K) error {
	before := len(c.extra.tables)
	err := c.holding.MakeTables(key)
	if before > 0 {
		c.unbind() // they may lie elsewhere now
	}
	return err
}

// unbind forgets all bindings, and inputs that were sent ahead to where the arena was.
func (c *Card[K]) unbind() {
	for p := range c.bound {
		c.forget(p)
	}
	for i := range c.stages {
		c.drifting = c.drifting || c.stages[i].prefetched
		c.stages[i].prefetched = false
	}
}

// forget drops the binding of a program that is used no more, or not there.
func (c *Card[K]) forget(p *Program) {
	if b := c.bound[p]; b != nil {
		b.free()
		delete(c.bound, p)
	}
}

// Usage is what the replica holds.
func (c *Card[K]) Usage() Usage {
	u := c.usage(0)
	u.Pinned = c.stages[0].size() + c.stages[1].size() + c.results.size() + c.fixedBytes()
	return u
}

// MachineBytes is what bindings take on the host: arguments of launches, and graphs where the driver keeps these there.
func (c *Card[K]) MachineBytes() int64 { return c.programs.sum(boundBytes) }

// Shrink makes an arena that is larger as small as bytes.
func (c *Card[K]) Shrink(bytes int64) {
	if next := &c.stages[1-c.current]; next.prefetched {
		next.prefetched = false
		_ = c.wait(nil) // what is wrong with the card is seen by whoever uses it next
	}
	if c.shrink(bytes) {
		c.unbind()
	}
}

// Forget drops all programs and their bindings.
func (c *Card[K]) Forget() {
	c.programs.Clear()
	c.unbind()
}

// Measure makes a pass twice, since the first loads kernels, and measures the second.
func (c *Card[K]) Measure(p *Pass[K]) (*Costs, error) {
	before := c.profile
	defer func() { c.profile, c.runs = before, 0 }()
	for range 2 {
		c.StartProfile()
		if err := c.Run(p); err != nil {
			return nil, err
		}
	}
	costs := c.profile.Costs()
	costs.Kernels = c.card.Info().Name
	return costs, nil
}

// StartProfile measures every pass from now on, step by step: the card waits for the host after each.
func (c *Card[K]) StartProfile() { c.profile = NewProfile() }

// Profile is what was measured; nil where nothing is measured.
func (c *Card[K]) Profile() *Profile { return c.profile }

// Close frees everything but the card itself, which belongs to who opened it.
func (c *Card[K]) Close() {
	if c.closed {
		return
	}
	c.unbind()
	c.lists.free()
	for _, s := range []*stage{&c.stages[0], &c.stages[1], &c.results} {
		s.free()
	}
	if c.fixed != nil {
		c.fixed.Free()
	}
	c.free()
}

var (
	_ Replica[int] = (*Card[int])(nil)
	_ Learner[int] = (*Card[int])(nil)
)

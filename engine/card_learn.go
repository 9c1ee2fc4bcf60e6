package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// Learn makes an update as a whole. Everything is queued; the one time that the host waits is at the end, when the
// losses, the norm and the verdict come back together.
func (c *Card[K]) Learn(p *Pass[K], s Learning) (Learned, error) {
	if err := c.learns(); err != nil {
		return Learned{}, err
	}
	batches, err := c.load(p)
	if err != nil {
		return Learned{}, err
	}
	c.constants(s)
	changed := false
	err = c.card.Do(func(q cuda.Queue) error {
		if err := c.queue(q, p, batches, true); err != nil {
			return err
		}
		if err := q.Upload(cuda.AddressOf(c.extra.small)+constantsAt, c.fixed, fixedConstants, constantBytes(c.layout)); err != nil {
			return err
		}
		changed = true
		return c.each(
			func() error { return q.Run(c.lists.update) },
			func() error { return q.Run(c.lists.finite) },
			func() error { return q.Download(c.fixed, fixedStatus, c.status(), align) },
		)
	})
	c.runs, c.reduced = 0, false
	if err == nil && s.Meanwhile != nil {
		s.Meanwhile()
	}
	if err != nil {
		err = c.wait(err)
	} else {
		err = c.card.Do(cuda.Queue.WaitWork) // not for the inputs of the next window
	}
	if err != nil {
		if changed {
			c.broken = &BrokenError{err}
			err = c.broken
		}
		return Learned{}, err
	}
	status := elements[float64](c.fixed.Bytes()[fixedStatus:][:8*op.CardStatus])
	c.gradient = c.grads[0]
	c.odd = int(elements[int32](c.fixed.Bytes()[fixedStatus+oddAt-statusAt:][:4])[0])
	learned := Learned{Norm: math.Sqrt(status[op.StatusSquares]) / s.LossScale, Applied: status[op.StatusApplied] != 0}
	return learned, c.collect(p, batches)
}

// each does one thing after the other until one fails.
func (c *Card[K]) each(things ...func() error) error {
	for _, do := range things {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for what is queued, also after an error: nothing may be under way when the host goes on.
func (c *Card[K]) wait(err error) error {
	waited := c.card.Do(cuda.Queue.Wait)
	if err == nil {
		err = waited
	}
	return err
}

// constants writes those of a step into pinned memory.
func (c *Card[K]) constants(s Learning) {
	s.GradScale = 1
	to := elements[float64](c.fixed.Bytes()[fixedConstants:][:constantBytes(c.layout)])
	for i, g := range c.layout.Groups {
		step := s.settings(g).Step(s.Number)
		op.CardStep{AdamStep: step, Clip: s.Clip, LossScale: s.LossScale, Share: float32(s.Share)}.Put(to[op.CardConstants*i:])
	}
}

// Run makes a pass over batches that were prepared.
func (c *Card[K]) Run(p *Pass[K]) error {
	if err := c.usable(); err != nil {
		return err
	}
	batches, err := c.load(p)
	if err != nil {
		return err
	}
	err = c.wait(c.card.Do(func(q cuda.Queue) error { return c.queue(q, p, batches, c.runs == 0) }))
	if err != nil {
		c.runs = 0
		return err
	}
	if err := c.collect(p, batches); err != nil {
		c.runs = 0
		return err
	}
	if slices.ContainsFunc(batches, func(b *boundProgram) bool { return b.Grads != nil }) {
		c.runs++
	}
	return nil
}

// load looks up the bound programs of a pass, and fills its inputs into pinned memory unless Stage has.
func (c *Card[K]) load(p *Pass[K]) ([]*boundProgram, error) {
	batches, err := c.boundOf(p)
	if err != nil {
		return nil, err
	}
	if c.profile != nil { // now: what is bound on the card's thread can't be bound in the middle of work there
		for _, b := range batches {
			if err := c.split(b); err != nil {
				return nil, err
			}
		}
	}
	if next := &c.stages[1-c.current]; next.filled == p {
		c.current = 1 - c.current
	} else {
		c.drifting = c.drifting || next.prefetched
		next.clear()
		if err := c.fill(&c.stages[c.current], p, batches); err != nil {
			return nil, err
		}
	}
	s := &c.stages[c.current]
	s.filled = nil
	c.results.clear()
	for i, b := range batches {
		if p.Late != nil {
			if err := p.Late(i, s.of(i, b)); err != nil {
				return nil, err
			}
		}
		c.results.place(b.outputBytes())
	}
	return batches, c.results.reserve(c.card, c.results.end, "outputs of a pass")
}

// boundOf are the bound programs of a pass.
func (c *Card[K]) boundOf(p *Pass[K]) ([]*boundProgram, error) {
	if err := c.checkWorkers(p.Batches); err != nil {
		return nil, err
	}
	batches := make([]*boundProgram, len(p.Batches))
	for i, b := range p.Batches {
		if batches[i] = c.bound[c.programs.kept(b.Key)]; batches[i] == nil {
			return nil, notPrepared(i, b)
		}
	}
	return batches, nil
}

// fill writes the inputs of a pass into a stage.
func (c *Card[K]) fill(s *stage, p *Pass[K], batches []*boundProgram) error {
	s.clear()
	for _, b := range batches {
		s.place(b.InputBytes)
	}
	if err := s.reserve(c.card, s.end, "inputs of a pass"); err != nil {
		return err
	}
	for i, b := range batches {
		if err := p.Fill(i, s.of(i, b)); err != nil {
			return err
		}
	}
	return nil
}

// of are the inputs of batch i.
func (s *stage) of(i int, b *boundProgram) staged {
	return staged{b.Program, s.memory.Bytes()[s.at[i]:][:b.InputBytes]}
}

// Stage fills the inputs of the next pass into pinned memory and sends those of its first batch on their way.
func (c *Card[K]) Stage(p *Pass[K]) bool {
	batches, err := c.boundOf(p)
	if c.usable() != nil || err != nil || len(batches) == 0 {
		return false
	}
	s := &c.stages[1-c.current]
	if s.prefetched && c.wait(nil) != nil { // a window that nobody has asked for is on its way from there
		return false
	}
	if c.fill(s, p, batches) != nil {
		s.clear()
		return false
	}
	s.filled = p
	if c.roomAhead < batches[0].InputBytes {
		return true
	}
	err = c.card.Do(func(q cuda.Queue) error { return c.prefetch(q, s, 0, batches[0]) })
	s.prefetched = err == nil
	return true // an error of the card is seen by who waits for it
}

// collect hands out what came of the batches.
func (c *Card[K]) collect(p *Pass[K], batches []*boundProgram) error {
	for i, b := range batches {
		var bytes []byte
		if c.results.memory != nil {
			bytes = c.results.memory.Bytes()[c.results.at[i]:]
		}
		if err := p.Collect(i, collected{b.Program, bytes}); err != nil {
			return err
		}
	}
	return nil
}

// Reduce is the sum of the squares of the gradients since the last Reduce.
func (c *Card[K]) Reduce() (squares float64, err error) {
	if err := c.usable(); err != nil {
		return 0, err
	}
	c.reduced = c.runs > 0
	c.runs = 0
	if !c.reduced {
		return 0, nil
	}
	err = c.wait(c.card.Do(func(q cuda.Queue) error {
		return c.each(
			func() error { return q.Run(c.lists.squares) },
			func() error { return q.Download(c.fixed, fixedStatus, c.status(), align) },
		)
	}))
	if err == nil {
		c.gradient = c.grads[0]
	}
	return elements[float64](c.fixed.Bytes()[fixedStatus:][:8*op.CardStatus])[op.StatusSquares], err
}

// Update applies one step of AdamW with the gradient that Reduce has left.
func (c *Card[K]) Update(s AdamW) error {
	if err := c.learns(); err != nil {
		return err
	}
	if !c.reduced {
		return errors.New("card: there is no gradient to apply: nothing has run since the last update")
	}
	c.reduced = false
	c.constants(Learning{AdamW: s, Clip: math.Inf(1), LossScale: 1 / s.GradScale})
	err := c.wait(c.card.Do(func(q cuda.Queue) error {
		return c.each(
			func() error { return q.Clear(c.status(), 8*op.CardStatus) }, // whoever calls has judged the losses
			func() error {
				return q.Upload(cuda.AddressOf(c.extra.small)+constantsAt, c.fixed, fixedConstants, constantBytes(c.layout))
			},
			func() error { return q.Run(c.lists.update) },
			func() error { return q.Download(c.fixed, fixedStatus, c.status(), align) },
		)
	}))
	c.odd = unknown
	if err != nil {
		c.broken = &BrokenError{err}
		return c.broken
	}
	if elements[float64](c.fixed.Bytes()[fixedStatus:][:8*op.CardStatus])[op.StatusApplied] == 0 {
		return fmt.Errorf("card: the gradient is not finite, so nothing was changed")
	}
	return nil
}

package engine

import (
	"math"
	"time"

	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// How the batches of a pass are queued.

// queue queues the batches of a pass. With first, gradients begin at 0.
func (c *Card[K]) queue(q cuda.Queue, p *Pass[K], batches []*boundProgram, first bool) error {
	if c.drifting {
		if err := q.Join(); err != nil {
			return err
		}
		c.drifting = false
	}
	if c.stale {
		if err := q.Run(c.lists.halves); err != nil {
			return err
		}
		c.stale = false
	}
	c.gradient = nil
	if c.train && first {
		err := q.Clear(c.status(), 8*op.CardStatus)
		if err == nil {
			err = q.Clear(cuda.AddressOf(c.grads[0]), c.layout.Learned)
		}
		if err != nil {
			return err
		}
	}
	s := &c.stages[c.current]
	c.roomAhead = math.MaxInt64
	here := s.prefetched // the inputs of the batch at hand are on their way
	s.prefetched = false
	for i, b := range batches {
		room := c.arenas[0].Size()/align*align - b.Plan.Size
		c.roomAhead = min(c.roomAhead, room)
		if err := c.inputs(q, s, i, b, here); err != nil {
			return err
		}
		here = i+1 < len(batches) && batches[i+1].InputBytes <= room
		if here {
			if err := c.prefetch(q, s, i+1, batches[i+1]); err != nil {
				return err
			}
		}
		if err := c.run(q, b); err != nil {
			return err
		}
		for _, name := range b.names {
			o := b.Outputs[name]
			if err := q.Download(c.results.memory, c.results.at[i]+b.outputAt(name), b.outputs[name], o.Type.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// inputs queues the copies that bring the inputs of a batch to where its program reads them.
func (c *Card[K]) inputs(q cuda.Queue, s *stage, i int, b *boundProgram, here bool) error {
	if !here {
		return q.Upload(b.inputs, s.memory, s.at[i], b.InputBytes)
	}
	return c.each(
		q.Join,
		func() error { return q.Copy(b.inputs, c.ahead(b), b.Late) },
		q.Join,
		func() error {
			if b.Late == b.InputBytes {
				return nil
			}
			return q.Upload(b.inputs+cuda.Address(b.Late), s.memory, s.at[i]+b.Late, b.InputBytes-b.Late)
		},
	)
}

// run queues a program, or runs it step by step where that is measured.
func (c *Card[K]) run(q cuda.Queue, b *boundProgram) error {
	if c.profile == nil {
		return q.Run(b.list)
	}
	if err := q.Wait(); err != nil {
		return err
	}
	for i := range b.Steps {
		start := time.Now()
		if err := q.Run(b.steps[i]); err != nil {
			return err
		}
		if err := q.Wait(); err != nil {
			return err
		}
		c.profile.add(&b.Steps[i].Op, float64(b.Steps[i].bytes()), time.Since(start))
	}
	return nil
}

// ahead is where the next batch's inputs lie until it runs: at the end of the arena, behind the plan of the one that
// runs.
func (c *Card[K]) ahead(b *boundProgram) cuda.Address {
	return cuda.AddressOf(c.arenas[0]) + cuda.Address((c.arenas[0].Size()-b.InputBytes)/align*align)
}

func (c *Card[K]) prefetch(q cuda.Queue, s *stage, i int, b *boundProgram) error {
	return q.Prefetch(c.ahead(b), s.memory, s.at[i], b.Late)
}

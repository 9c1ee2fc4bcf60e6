package engine

import (
	"encoding/binary"
	"io"
	"math"

	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// What a replica on a card does with its flat buffers beside updates.

// touched says that the weights have changed from outside.
func (c *Card[K]) touched() { c.stale, c.odd = c.extra.half, unknown }

// Import reads what Export wrote.
func (c *Card[K]) Import(of Flat, name string, r io.Reader) error {
	c.touched()
	return c.holding.Import(of, name, r)
}

// Initialize gives all weights their start values, and zeros to the moments.
func (c *Card[K]) Initialize(seed uint64) error {
	if err := c.usable(); err != nil {
		return err
	}
	c.touched()
	for _, t := range c.layout.Tensors {
		values := make([]float32, op.Size(t.Shape))
		c.net.Start(t.Name, seed, values)
		if _, err := c.weights.WriteAt(bytesOf(values), t.Offset); err != nil {
			return err
		}
	}
	for _, b := range c.moments {
		if b != nil {
			b.Zero()
		}
	}
	return nil
}

// Finite names the first weight that is not a finite number. After Learn it is known already.
func (c *Card[K]) Finite() (*NotFinite, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	if c.odd == unknown {
		err := c.wait(c.card.Do(func(q cuda.Queue) error {
			return c.each(
				func() error { return q.Run(c.lists.finite) },
				func() error { return q.Download(c.fixed, fixedStatus, c.status(), align) },
			)
		}))
		if err != nil {
			return nil, err
		}
		c.odd = int(elements[int32](c.fixed.Bytes()[fixedStatus+oddAt-statusAt:][:4])[0])
	}
	if c.odd < 0 {
		return nil, nil
	}
	at := 4 * int64(c.odd)
	for _, t := range c.layout.Tensors {
		if at < t.Offset+t.Bytes() {
			var value [4]byte
			if _, err := c.weights.ReadAt(value[:], at); err != nil {
				return nil, err
			}
			return &NotFinite{t.Name, int(at-t.Offset) / 4, math.Float32frombits(binary.LittleEndian.Uint32(value[:]))}, nil
		}
	}
	return nil, nil
}

// ExchangeAverages has weights and averages change places.
func (c *Card[K]) ExchangeAverages() error {
	if err := c.exchange(); err != nil {
		return err
	}
	c.touched()
	err := c.wait(c.card.Do(func(q cuda.Queue) error { return q.Run(c.lists.exchange) }))
	if err != nil {
		c.broken = &BrokenError{err}
		return c.broken
	}
	return nil
}

// Mean replaces the weights by the mean of themselves and of up to n others.
func (c *Card[K]) Mean(n int, load func(i int) error) (used []int, err error) {
	if err := c.trains(); err != nil {
		return nil, err
	}
	c.moments[1].Zero() // what rounding loses
	run := func(l cuda.List) error {
		err := c.wait(c.card.Do(func(q cuda.Queue) error { return q.Run(l) }))
		if err != nil {
			c.broken = &BrokenError{err}
			err = c.broken
		}
		return err
	}
	for i := range n {
		if load(i) != nil {
			continue
		}
		used = append(used, i)
		if err := run(c.lists.meanAdd); err != nil {
			return nil, err
		}
	}
	c.touched()
	elements := int(c.layout.Learned / 4)
	kernel, err := op.NewMeanEnd(elements, len(used)+1).Kernel(op.CUDA)
	if err != nil {
		return nil, err
	}
	weights := []cuda.Address{cuda.AddressOf(c.weights)}
	end, err := c.card.Bind(kernel.Launches, func(_ int, r cuda.Ref) cuda.Address {
		return resolve(r, cuda.AddressOf(c.extra.scratch), weights[0], weights)
	})
	if err != nil {
		return nil, err
	}
	defer end.Free()
	return used, run(end)
}

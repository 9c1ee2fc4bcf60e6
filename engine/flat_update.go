package engine

import (
	"errors"

	"konkanitrain/op"
)

// What a crew does with its flat buffers at an update, and with the averages of its weights.

// Update applies one step of AdamW with the gradient that Reduce has left.
func (c *Crew[K]) Update(s AdamW) error {
	if c.reduced == nil {
		return errors.New("crew: there is no gradient to apply: nothing has run since the last update")
	}
	if err := c.kernels.prepare("adamw", 0, c.pieces.learned, op.NewAdamW); err != nil {
		return err
	}
	if c.averages != nil {
		if err := c.kernels.prepare("ema", 0, c.pieces.learned, op.NewEMA); err != nil {
			return err
		}
		c.share[0] = float32(s.Share)
	}
	if err := c.learns(); err != nil {
		return err
	}
	for i, g := range c.layout.Groups {
		c.constants[i] = s.constants(g)
	}
	err := c.change(c.tasks.update)
	c.reduced = nil
	return err
}

// settings are those of the step for the parameters of a group that decay. Decay is decoupled: it is the rate's share
// of the weight, and so falls with it.
func (s AdamW) settings(g Group) op.AdamSettings {
	decay := s.Decay
	if g.Decay.Set {
		decay = g.Decay.Value
	}
	return op.AdamSettings{LR: s.LR * g.Scale, Decay: decay, Beta1: Beta1, Beta2: Beta2, Eps: Epsilon, GradScale: s.GradScale}
}

// stepConstants are those of a step for a group of parameters: without decay and with it.
type stepConstants [2][8]float32

// constants are those for the parameters of a group.
func (s AdamW) constants(g Group) (c stepConstants) {
	set := s.settings(g)
	set.Step(s.Number).Put(c[1][:])
	set.Decay = 0
	set.Step(s.Number).Put(c[0][:])
	return c
}

// of are the constants for a parameter that decays, or doesn't.
func (c *stepConstants) of(decay bool) []float32 {
	if decay {
		return c[1][:]
	}
	return c[0][:]
}

func (c *Crew[K]) updatePieces(w *worker[K]) error {
	for i := w.index; i < len(c.pieces.learned); i += len(c.workers) {
		p := c.pieces.learned[i]
		constants := c.constants[p.group].of(p.decay)
		weights := p.of(c.weights)
		w.flat("adamw", 0, p, weights, weights, p.of(c.moments[0]), p.of(c.moments[1]), p.of(c.reduced), op.Tensor{Data: constants})
		if c.averages != nil {
			average := p.of(c.averages)
			w.flat("ema", 0, p, average, average, weights, op.Tensor{Data: c.share[:]})
		}
	}
	return nil
}

// ExchangeAverages has weights and averages change places.
func (c *Crew[K]) ExchangeAverages() error {
	if err := c.exchange(); err != nil {
		return err
	}
	return c.change(c.tasks.exchange)
}

func (c *Crew[K]) exchangePieces(w *worker[K]) error {
	for i := w.index; i < len(c.pieces.buffer); i += len(c.workers) {
		p := c.pieces.buffer[i]
		weights, averages := p.of(c.weights).Data, p.of(c.averages).Data
		for k, x := range weights {
			weights[k], averages[k] = averages[k], x
		}
	}
	return nil
}

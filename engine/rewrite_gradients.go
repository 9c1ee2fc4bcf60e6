package engine

import "konkanitrain/op"

// flatGradients puts the parameters' gradients into the flat buffer: each is written (or added) there by the step that
// computes it, if nobody else reads it, or else copied by a step of its own, right after the one that computes it.
func flatGradients(c *code) error {
	uses := c.uses()
	copies := map[int][]*step{} // step -> the copies that follow it
	for k, g := range c.grads {
		w := c.spec.Learned[k]
		flat := &value{name: w.Name(), block: g.block, typ: typeOf(w), space: Grad, backward: true}
		u := uses[g.root()]
		if g.whole == nil && g.space == Arena && u.made >= 0 && len(u.readers) == 0 && u.asked == 1 {
			if s := c.steps[u.made]; s.onto == nil && s.kernel.Accumulates {
				s.out, c.grads[k] = flat, flat
				continue
			}
		}
		s, err := c.newStep(op.NewAccumulate(w.Shape()), flat, g)
		if err != nil {
			return err
		}
		at := max(u.made, 0)
		copies[at] = append(copies[at], s)
		c.grads[k] = flat
	}
	c.insert(nil, copies)
	return nil
}

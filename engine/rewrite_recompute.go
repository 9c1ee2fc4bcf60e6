package engine

import "slices"

// recompute is the rewrite behind Spec.Recompute. Of a block's values only those stay that something outside the block
// reads; the inner ones are dropped after the forward pass, and the steps that make them are repeated before the
// block's backward pass. Ops are pure functions of their operands (dropout draws from the utterance's key), so a
// repeated step gives the same bits.
//
//	forward:   x -> [ inner ... ] -> y -> [ inner ... ] -> z        x, y, z stay
//	backward:  repeat the second block from y, its gradients; repeat the first from x, its gradients
func recompute(c *code) error {
	if c.spec.Recompute == RecomputeNone || c.spec.Grads == nil {
		return nil
	}
	var blocks []string
	for _, s := range c.steps {
		if b := s.out.block; !s.backward && b != "" && !slices.Contains(blocks, b) {
			blocks = append(blocks, b)
		}
	}
	for _, b := range blocks {
		c.recomputeBlock(b)
	}
	return nil
}

// recomputeBlock rewrites one block.
func (c *code) recomputeBlock(block string) {
	uses := c.uses()
	inner := map[*value]bool{}   // made in the block's forward pass, and read inside the block alone
	dropped := map[*value]bool{} // of these, what the block's backward pass reads
	first := len(c.steps)        // the first step of the backward pass that reads one
	for _, s := range c.steps {
		if s.backward || s.out.block != block || uses[s.out].asked > 0 || s.out.space != Arena {
			continue
		}
		inside := true
		reader := -1
		for _, r := range uses[s.out].readers {
			inside = inside && c.steps[r].out.block == block
			if c.steps[r].backward && reader < 0 {
				reader = r
			}
		}
		if !inside || s.onto != nil {
			continue
		}
		inner[s.out] = true
		if reader >= 0 {
			dropped[s.out] = true
			first = min(first, reader)
		}
	}
	if len(dropped) == 0 {
		return
	}
	// What has to be made again: the dropped values, and the inner ones that they are computed from.
	var again []int
	wanted := dropped
	for i, s := range slices.Backward(c.steps[:first]) {
		if s.backward || !wanted[s.out] {
			continue
		}
		again = append(again, i)
		for _, v := range s.in {
			if inner[v.root()] {
				wanted[v.root()] = true
			}
		}
	}
	copies := map[*value]*value{}
	var steps []*step
	for _, i := range slices.Backward(again) {
		s := *c.steps[i]
		out := *s.out
		out.name, out.backward = out.name+" again", true
		copies[s.out] = &out
		s.out, s.backward, s.in = &out, true, slices.Clone(s.in)
		steps = append(steps, &s)
	}
	repeated := code{steps: steps}
	repeated.replace(copies, func(*step) bool { return true })
	c.replace(copies, func(s *step) bool { return s.backward })
	c.insert(map[int][]*step{first: steps}, nil)
}

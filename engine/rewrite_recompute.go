package engine

import (
	"maps"
	"slices"
)

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
	if c.spec.Recompute == RecomputeAll {
		c.markPrelude()
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

// prelude is the block of what comes before the first block: in a Conformer the subsampling, whose convolutions make
// the largest values of all, and make them again in little time.
const prelude = "prelude"

// markPrelude makes the steps before the first block one, and with them those of the backward pass that belong to no
// block: the ones that read what these steps make are among them.
func (c *code) markPrelude() {
	before := true
	for _, s := range c.steps {
		before = before && (s.out.block == "" && !s.backward)
		if s.out.block == "" && (before || s.backward) {
			s.out.block = prelude
		}
	}
}

// recomputeBlock rewrites one block.
func (c *code) recomputeBlock(block string) {
	inner, dropped, first := c.innerOf(block)
	if len(dropped) == 0 {
		return
	}
	steps, copies := c.repeat(c.steps[:first], inner, dropped)
	c.replace(copies, func(s *step) bool { return s.backward })
	c.insert(map[int][]*step{first: steps}, nil)
}

// innerOf looks up the values that a block's forward pass makes and that nothing outside the block reads. Those that
// its backward pass reads can be dropped; first is the first step that does so.
func (c *code) innerOf(block string) (inner, dropped map[*value]bool, first int) {
	uses := c.uses()
	inner, dropped, first = map[*value]bool{}, map[*value]bool{}, len(c.steps)
	for _, s := range c.steps {
		u := uses[s.out]
		if s.backward || s.out.block != block || s.out.space != Arena || s.onto != nil || u.asked > 0 {
			continue
		}
		if slices.ContainsFunc(u.readers, func(r int) bool { return c.steps[r].out.block != block }) {
			continue
		}
		inner[s.out] = true
		if r := slices.IndexFunc(u.readers, func(r int) bool { return c.steps[r].backward }); r >= 0 {
			dropped[s.out] = true
			first = min(first, u.readers[r])
		}
	}
	return inner, dropped, first
}

// repeat makes copies of the forward steps that make the wanted values, and of those that make the inner values which
// these are computed from. What is not inner is there still. copies says which value takes whose place.
func (c *code) repeat(forward []*step, inner, wanted map[*value]bool) (steps []*step, copies map[*value]*value) {
	wanted, copies = maps.Clone(wanted), map[*value]*value{}
	for _, original := range slices.Backward(forward) {
		if original.backward || !wanted[original.out] {
			continue
		}
		for _, v := range original.in {
			if inner[v.root()] {
				wanted[v.root()] = true
			}
		}
		s, out := *original, *original.out
		out.name, out.backward = out.name+" again", true
		copies[original.out] = &out
		s.out, s.backward, s.in = &out, true, slices.Clone(s.in)
		steps = append(steps, &s)
	}
	slices.Reverse(steps)
	repeated := code{steps: steps}
	repeated.replace(copies, func(*step) bool { return true })
	return steps, copies
}

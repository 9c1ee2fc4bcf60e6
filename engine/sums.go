package engine

import (
	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// fuseSum lets the step that computes one term of a sum add it to the other term, where that one lies, instead of
// writing it and adding it in a step of its own. It needs an op that can add to its result (op.Op.Accumulates), a
// term that nobody else reads, and another term that is complete before and read by nobody in between or after.
//
//	b = linear.dx(...)        a += linear.dx(...)
//	n = a + b            =>   (nothing: n lies where a was)
//
// It says whether it did so; place[n] is set then, and step i stays empty.
func (c *compiler) fuseSum(n *G.Node, i int) bool {
	if !op.IsSum(n.Op()) {
		return false
	}
	terms := op.Children(n)
	return c.addInto(n, terms[0], terms[1], i) || c.addInto(n, terms[1], terms[0], i)
}

// addInto makes the step of term b add to term a.
func (c *compiler) addInto(n, a, b *G.Node, i int) bool {
	j, computed := c.step[b]
	if !computed || c.readers[b] != 1 || c.asked[b] > 0 {
		return false
	}
	to, s := c.place[a], &c.prog.Steps[j]
	if to.Space != Arena || s.Op == nil || !s.Op.Accumulates {
		return false
	}
	if c.blocks[to.Block].Last != i {
		return false
	}
	for k := j; k < i; k++ { // the step that completes a is one of these unless it comes before b's
		if c.prog.Steps[k].touches(to.Block) {
			return false
		}
	}
	s.Out, s.Add = Operand{Block: to.Block, Offset: to.Offset, Shape: n.Shape()}, true
	c.blocks[to.Block].Last = c.last[n]
	c.place[n] = s.Out
	c.done[n] = j
	return true
}

// ready is the step after which n's value is complete. From there on another term may be added to the memory where n
// lies, if no step reads n any more.
func (c *compiler) ready(n *G.Node) int {
	n = owner(n)
	if j, ok := c.done[n]; ok {
		return j
	}
	return c.step[n]
}

// touches says whether a step reads or writes a block.
func (s *Step) touches(block int) bool {
	if s.Op == nil {
		return false
	}
	for _, o := range append([]Operand{s.Out}, s.In...) {
		if o.Space == Arena && o.Block == block {
			return true
		}
	}
	return false
}

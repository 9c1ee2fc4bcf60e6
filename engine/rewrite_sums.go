package engine

// fuseSums lets the step that computes one term of a sum add it to the other term, where that one lies, instead of
// writing it and adding it in a step of its own. It needs a kernel that can add to its result, a term that nobody else
// reads, and another term that is complete before and read by nobody in between or after.
//
//	b = linear.dx(...)        n = a + linear.dx(...)     in the memory of a
//	n = a + b            =>
func fuseSums(c *code) error {
	uses := c.uses()
	dropped := map[*step]bool{}
	for i, s := range c.steps {
		if s.op.Name != "sum" || dropped[s] {
			continue
		}
		a, b := s.in[0], s.in[1]
		if c.addInto(uses, i, a, b) || c.addInto(uses, i, b, a) {
			dropped[s] = true
		}
	}
	kept := c.steps[:0]
	for _, s := range c.steps {
		if !dropped[s] {
			kept = append(kept, s)
		}
	}
	c.steps = kept
	return nil
}

// addInto makes the step of term b add to term a, if that may be, in place of step i, which adds them.
func (c *code) addInto(uses map[*value]*use, i int, a, b *value) bool {
	ua, ub := uses[a.root()], uses[b.root()]
	if b.space != Arena || ub.made < 0 || len(ub.readers) != 1 || ub.asked > 0 {
		return false
	}
	s := c.steps[ub.made]
	if s.out != b || s.onto != nil || !s.kernel.Accumulates {
		return false
	}
	if a.space != Arena || ua.asked > 0 || ua.made >= ub.made || ua.last() != i {
		return false
	}
	for _, reader := range ua.readers {
		if reader >= ub.made && reader < i {
			return false
		}
	}
	n := c.steps[i].out
	s.out, s.onto = n, a
	un := uses[n]
	un.made = ub.made
	// a is read by the step that adds to it now, and no more by the sum.
	ua.readers = ua.readers[:0:0]
	ua.readers = append(ua.readers, ub.made)
	delete(uses, b)
	return true
}

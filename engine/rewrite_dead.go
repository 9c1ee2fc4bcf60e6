package engine

import "slices"

// deadCode drops the steps whose results nobody reads: what other rewrites have made superfluous.
func deadCode(c *code) error {
	live := map[*value]bool{}
	for _, v := range c.outputs {
		live[v.root()] = true
	}
	for _, v := range c.grads {
		live[v.root()] = true
	}
	var kept []*step
	for _, s := range slices.Backward(c.steps) {
		if !live[s.out] {
			continue
		}
		kept = append(kept, s)
		for _, v := range s.reads() {
			live[v.root()] = true
		}
	}
	slices.Reverse(kept)
	c.steps = kept
	c.inputs = slices.DeleteFunc(c.inputs, func(v *value) bool { return !live[v] })
	return nil
}

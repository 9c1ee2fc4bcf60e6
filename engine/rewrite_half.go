package engine

import "konkanitrain/op"

// halfLeast is the smallest value, in elements, that is worth storing in half precision.
const halfLeast = 1024

// halfGap is the least number of steps between the last use in the forward pass and the first in the backward pass:
// what is needed again at once is not converted.
const halfGap = 3

// half is the rewrite behind Spec.Half: a value that the forward pass makes and the backward pass reads is kept
// as float16 between its last forward use and its first backward use, in half the memory. Products and all
// other arithmetic stay in float32.
//
//	value:  made ... last forward read | half.store ~~~~~~~~ half.load | backward reads
func half(c *code) error {
	if !c.spec.Half || c.spec.Grads == nil {
		return nil
	}
	uses := c.uses()
	after, before := map[int][]*step{}, map[int][]*step{}
	loaded := map[*value]*value{} // what the backward pass reads instead
	for i, s := range c.steps {
		v := s.out
		u := uses[v]
		if s.backward || u.asked > 0 || v.typ.Of != op.Float32 || v.typ.Elements() < halfLeast {
			continue
		}
		forward, backward := i, -1
		for _, reader := range u.readers {
			if !c.steps[reader].backward {
				forward = max(forward, reader)
			} else if backward < 0 {
				backward = reader
			}
		}
		if backward < 0 || backward-forward < halfGap {
			continue
		}
		first := c.steps[backward]
		stored := &value{name: v.name + " half", block: v.block, typ: op.Type{Shape: []int{v.typ.Elements()}, Of: op.Float16}}
		again := &value{name: v.name + " from half", block: first.out.block, typ: v.typ, backward: true}
		store, err := c.newStep(op.NewHalfStore(v.typ.Elements()), stored, v)
		if err != nil {
			return err
		}
		load, err := c.newStep(op.NewHalfLoad(v.typ.Elements()), again, stored)
		if err != nil {
			return err
		}
		after[forward] = append(after[forward], store)
		before[backward] = append(before[backward], load)
		loaded[v] = again
	}
	c.replace(loaded, func(s *step) bool { return s.backward })
	c.insert(before, after)
	return nil
}

// replace lets the steps that match take other values as operands. Parts of a replaced value become parts of the other
// one. What a step adds to stays: such sums are of the backward pass, what is replaced is of the forward pass.
func (c *code) replace(other map[*value]*value, match func(*step) bool) {
	parts := map[*value]*value{}
	var instead func(v *value) *value
	instead = func(v *value) *value {
		if w := other[v]; w != nil {
			return w
		}
		if v.whole == nil || other[v.root()] == nil {
			return v
		}
		if parts[v] == nil {
			part := *v
			part.whole = instead(v.whole)
			parts[v] = &part
		}
		return parts[v]
	}
	for _, s := range c.steps {
		if !match(s) {
			continue
		}
		for k, v := range s.in {
			s.in[k] = instead(v)
		}
	}
}

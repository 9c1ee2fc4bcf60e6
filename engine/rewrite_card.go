package engine

import (
	"fmt"
	"slices"

	"konkanitrain/op"
)

// What a card needs beside the rewrites that all targets share: parts of packed results begin on aligned addresses,
// each value has an element type, and each step has the kernel for just these types.

// packs gives the parts of packed results their places on a card (op.Packed) and, under half precision, their types.
func packs(c *code) error {
	for _, s := range c.steps {
		p, err := s.op.Precision()
		if err != nil {
			return fmt.Errorf("compile: %w", err)
		}
		if p.Parts == nil {
			continue
		}
		offsets, total := op.Packed(p.Parts, c.spec.Half)
		at := map[int64]int{} // where each part began
		before := int64(0)
		for i, part := range p.Parts {
			at[before] = i
			before += 4 * int64(part.Elements)
		}
		for _, v := range c.partsOf(s.out) {
			i, known := at[v.offset]
			if !known {
				return fmt.Errorf("compile: %s begins at byte %d of %s, where no part of it does", v.name, v.offset, s.op.Name)
			}
			v.offset = offsets[i]
			if c.spec.Half && p.Parts[i].Half {
				v.typ.Of = op.Float16
			}
		}
		s.out.typ = op.Type{Shape: []int{int((total + 3) / 4)}}
	}
	return nil
}

// partsOf lists the values that are direct parts of another, each once.
func (c *code) partsOf(whole *value) (parts []*value) {
	add := func(v *value) {
		if v != nil && v.whole == whole && !slices.Contains(parts, v) {
			parts = append(parts, v)
		}
	}
	for _, s := range c.steps {
		add(s.onto)
		for _, v := range s.in {
			add(v)
		}
	}
	for _, v := range c.outputs {
		add(v)
	}
	for _, v := range c.grads {
		add(v)
	}
	return parts
}

// precision gives every value of a card's program under half precision its element type: what an op's precision says of
// its result, and a cast in front of a step that wants an operand otherwise. A weight that is wanted as float16 is read
// from the float16 copy.
func precision(c *code) error {
	if !c.spec.Half {
		return nil
	}
	p := &rounding{code: c, of: map[*step]op.Precision{}, casts: map[cast]*value{}}
	for _, s := range c.steps {
		var err error
		if p.of[s], err = s.op.Precision(); err != nil {
			return fmt.Errorf("compile: %w", err)
		}
	}
	uses, steps := c.uses(), []*step(nil)
	for _, s := range c.steps {
		for k, v := range s.in {
			w, err := p.as(v, p.wanted(s, k), s, &steps)
			if err != nil {
				return err
			}
			s.in[k] = w
		}
		if p.of[s].Parts == nil && s.out.space == Arena {
			s.out.typ.Of = p.result(s, uses[s.out])
		}
		if s.onto != nil {
			w, err := p.as(s.onto, s.out.typ.Of, s, &steps)
			if err != nil {
				return err
			}
			s.onto = w
		}
		steps = append(steps, s)
	}
	c.steps = steps
	return nil
}

// rounding is precision at work.
type rounding struct {
	*code
	of    map[*step]op.Precision
	casts map[cast]*value
}

// cast is a value in another type.
type cast struct {
	of *value
	to op.DType
}

// wanted is the type of which a step wants operand k.
func (r *rounding) wanted(s *step, k int) op.DType {
	if r.of[s].In[k] {
		return op.Float16
	}
	return s.op.In[k].Of
}

// result is the type of a step's result.
func (r *rounding) result(s *step, u *use) op.DType {
	switch p := r.of[s]; {
	case p.Out == op.Halved:
		return op.Float16
	case p.Out == op.Full || u.asked > 0:
		return s.op.Out.Of
	}
	for _, reader := range u.readers {
		of := r.steps[reader]
		if of.onto != nil && of.onto.root() == s.out {
			return r.result(of, &use{})
		}
		for k, v := range of.in {
			if v.root() == s.out && r.wanted(of, k) == op.Float16 {
				return op.Float16
			}
		}
	}
	return s.op.Out.Of
}

// as is v in a type, for a step: v itself, a weight's copy, or what a cast makes of it before the first step that wants
// it.
func (r *rounding) as(v *value, to op.DType, s *step, steps *[]*step) (*value, error) {
	if v.typ.Of == to || to == op.Int32 || v.typ.Of == op.Int32 {
		return v, nil
	}
	if w := r.casts[cast{v, to}]; w != nil {
		return w, nil
	}
	w := &value{name: fmt.Sprintf("%s as %v", v.name, to), block: s.out.block, backward: s.backward, typ: op.Type{Shape: v.typ.Shape, Of: to}}
	r.casts[cast{v, to}] = w
	if v.space == Weight && to == op.Float16 {
		w.name, w.space = v.name, HalfWeight
		return w, nil
	}
	n := v.typ.Elements()
	o := op.NewHalfLoad(n)
	if to == op.Float16 {
		o = op.NewHalfStore(n)
	}
	step, err := r.newStep(o, w, v)
	if err != nil {
		return nil, err
	}
	*steps = append(*steps, step)
	return w, nil
}

// settle gives each step of a card's program the kernel for the types of its operands. Gradients of parameters are
// always added: the flat buffer is cleared before a window.
func settle(c *code) error {
	for _, s := range c.steps {
		set := op.Setting{Out: s.out.typ.Of, Half: c.spec.Half, Add: s.onto != nil || s.out.space == Grad}
		for _, v := range s.in {
			set.In = append(set.In, v.typ.Of)
		}
		var err error
		if s.kernel, err = s.op.CardKernel(set); err != nil {
			return fmt.Errorf("compile: %w", err)
		}
		if set.Add && !s.kernel.Accumulates {
			return fmt.Errorf("compile: the kernel of %s for %s can't add to %s", s.op.Name, c.spec.Target, s.out.name)
		}
	}
	return nil
}

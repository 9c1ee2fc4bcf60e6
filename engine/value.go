package engine

import (
	"fmt"
	"slices"

	"konkanitrain/op"
)

// value is a tensor in single assignment: one step makes it, or it is given, and it never changes. It has no place in
// memory yet.
type value struct {
	name     string  // its place in the network: "encoder.blocks.3.ffn1.up"
	block    string  // the block of the network that it belongs to, "" outside of blocks
	typ      op.Type // element type and shape
	space    Space   // Arena for what a program makes and for its inputs
	given    bool    // an input in the arena: no step makes it
	whole    *value  // the value that it is a part of; nil: it is no part
	offset   int64   // of a part: bytes from the start of whole
	backward bool    // made in the backward pass
}

// root is the value that v is a part of, or v itself: what has to live for v to be readable.
func (v *value) root() *value {
	for v.whole != nil {
		v = v.whole
	}
	return v
}

// step is one kernel call on values.
type step struct {
	op     *op.Op
	kernel op.Kernel
	out    *value
	// onto is the value that the result is added to, in whose memory it comes to lie; nil: the result is alone.
	onto     *value
	in       []*value
	backward bool // runs in the backward pass
}

// reads lists what a step reads: its operands, and what it adds to.
func (s *step) reads() []*value {
	if s.onto != nil {
		return append(slices.Clone(s.in), s.onto)
	}
	return s.in
}

// code is a graph on its way to a program: steps in the order in which they run.
type code struct {
	spec    Spec
	steps   []*step
	inputs  []*value          // given, in the arena
	outputs map[string]*value // what stays readable
	grads   []*value          // of Spec.Learned, in their order
}

// use is where a root value is made and read, as indices of steps.
type use struct {
	made    int // -1: it is given
	readers []int
	asked   int // how often it is an output or a gradient
}

// last is the last step that touches the value.
func (u *use) last() int {
	if len(u.readers) == 0 {
		return u.made
	}
	return max(u.made, u.readers[len(u.readers)-1])
}

// uses looks up all root values. A step that reads a value twice is listed twice.
func (c *code) uses() map[*value]*use {
	all := make(map[*value]*use, len(c.steps)+len(c.inputs))
	of := func(v *value) *use {
		v = v.root()
		if all[v] == nil {
			all[v] = &use{made: -1}
		}
		return all[v]
	}
	for i, s := range c.steps {
		for _, v := range s.reads() {
			u := of(v)
			u.readers = append(u.readers, i)
		}
		of(s.out).made = i
	}
	seen := map[*value]bool{}
	for _, v := range c.outputs {
		if !seen[v.root()] {
			seen[v.root()] = true
			of(v).asked++
		}
	}
	for _, v := range c.grads {
		of(v).asked++
	}
	return all
}

// insert puts steps before and behind others, by the index of these.
func (c *code) insert(before, after map[int][]*step) {
	steps := make([]*step, 0, len(c.steps)+len(before)+len(after))
	for i, s := range c.steps {
		steps = append(steps, before[i]...)
		steps = append(steps, s)
		steps = append(steps, after[i]...)
	}
	c.steps = steps
}

// newStep is a step of an op that the engine itself adds.
func (c *code) newStep(o *op.Op, out *value, in ...*value) (*step, error) {
	k, err := o.Kernel(c.spec.Target)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return &step{op: o, kernel: k, out: out, in: in, backward: out.backward}, nil
}

// checkTypes holds the values that a kernel gets to what it takes: rewrites may have changed element types. Kernels of
// a card are made for the types that there are (settle).
func (c *code) checkTypes() error {
	if c.spec.Target == op.CUDA {
		return nil
	}
	for _, s := range c.steps {
		for k, v := range s.in {
			want := s.op.In[k].Of
			if v.typ.Of != want && !(want == op.Float32 && slices.Contains(s.kernel.Floats, v.typ.Of)) {
				return fmt.Errorf("compile: %s reads %s, which is %v, as operand %d: its kernel for %s takes %v there",
					s.op.Name, v.name, v.typ.Of, k, c.spec.Target, want)
			}
		}
	}
	return nil
}

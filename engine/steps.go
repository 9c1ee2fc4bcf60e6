package engine

import (
	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// steps: one step for each op, its result in a block of its own, in the memory of an input that nobody reads
// any more (InPlace), or, for a view, inside its input.
func (c *compiler) steps() error {
	for _, n := range c.order {
		if isLeaf(n) {
			continue
		}
		children := op.Children(n)
		if v := view(n); v != nil {
			o := c.place[children[0]]
			o.Offset += v.Offset
			o.Shape = n.Shape()
			c.place[n] = o
			continue
		}
		kernel, err := kernelOf(n)
		if err != nil {
			return err
		}
		i := c.step[n]
		if c.fuseSum(n, i) {
			c.prog.Steps = append(c.prog.Steps, Step{}) // insert takes it out
			continue
		}
		s := Step{Op: kernel, Scratch: -1, Backward: c.backward(n)}
		for _, child := range children {
			s.In = append(s.In, c.place[child])
		}
		s.Out = Operand{Shape: n.Shape()}
		if k := c.inPlace(s, i); k >= 0 {
			s.Out.Block, s.Out.Offset = s.In[k].Block, s.In[k].Offset
			b := &c.blocks[s.Out.Block]
			b.Last = max(b.Last, c.last[n])
		} else {
			s.Out.Block = c.block(kernel.Name, s.Out.Words(), i, c.last[n])
		}
		c.place[n] = s.Out
		c.prog.Steps = append(c.prog.Steps, s)
	}
	return nil
}

// backward says whether Grad made n. The loss need not be among the steps: Grad doesn't read its value, so it is
// dead code unless it is an output.
func (c *compiler) backward(n *G.Node) bool { return c.spec.Loss != nil && n.ID() > c.spec.Loss.ID() }

// inPlace is the input of step i whose memory its result may take, or -1.
func (c *compiler) inPlace(s Step, i int) int {
	for _, k := range s.Op.InPlace {
		in := s.In[k]
		if in.Space != Arena || in.Words() != s.Out.Words() {
			continue
		}
		if b := c.blocks[in.Block]; b.First >= 0 && b.Last == i {
			return k
		}
	}
	return -1
}

// gradients: a parameter's gradient is written (or added) straight into the flat buffer by the step that
// computes it, or else copied there by a step of its own, right after the one that completes it.
func (c *compiler) gradients() error {
	after := map[int][]Step{} // step -> copies that follow it
	for k, n := range c.spec.Grads {
		w := c.spec.Weights[k]
		c.prog.Grads = append(c.prog.Grads, w.Name())
		target := Operand{Space: Grad, Name: w.Name(), Shape: w.Shape()}
		i, computed := c.step[n]
		if computed && c.prog.Steps[i].Op != nil && c.prog.Steps[i].Op.Accumulates && c.readers[n] == 0 && c.asked[n] == 1 {
			s := &c.prog.Steps[i]
			s.Out = target
			continue
		}
		i = c.ready(n)
		from := c.place[n]
		after[i] = append(after[i], Step{Op: accumulate(w.Shape()), Out: target, In: []Operand{from}, Scratch: -1, Backward: true})
	}
	c.insert(nil, after)
	return nil
}

func pointers(operands []Operand) []*Operand {
	p := make([]*Operand, len(operands))
	for i := range operands {
		p[i] = &operands[i]
	}
	return p
}

// insert puts steps before and behind others, and computes all lifetimes anew from who touches what.
func (c *compiler) insert(before, after map[int][]Step) {
	var steps []Step
	for i, s := range c.prog.Steps {
		steps = append(steps, before[i]...)
		if s.Op != nil {
			steps = append(steps, s)
		}
		steps = append(steps, after[i]...)
	}
	c.prog.Steps = steps
	for k := range c.blocks {
		b := &c.blocks[k]
		if b.First >= 0 {
			b.First = forever
		}
		if b.Last != forever {
			b.Last = 0
		}
	}
	for i, s := range steps {
		for _, o := range append([]Operand{s.Out}, s.In...) {
			if o.Space == Arena {
				b := &c.blocks[o.Block]
				b.First, b.Last = min(b.First, i), max(b.Last, i)
			}
		}
	}
}

// scratch: a block for the one step that needs it.
func (c *compiler) scratch() error {
	for i := range c.prog.Steps {
		if s := &c.prog.Steps[i]; s.Op.Scratch > 0 {
			s.Scratch = c.block(s.Op.Name+" scratch", s.Op.Scratch, i, i)
		}
	}
	return nil
}

// compact drops the blocks that no step and no caller touches.
func (c *compiler) compact() error {
	var kept []Block
	moved := map[int]int{}
	move := func(k int) int {
		if _, ok := moved[k]; !ok {
			moved[k] = len(kept)
			kept = append(kept, c.blocks[k])
		}
		return moved[k]
	}
	for i := range c.prog.Inputs {
		c.prog.Inputs[i].Block = move(c.prog.Inputs[i].Block)
	}
	for i := range c.prog.Steps {
		s := &c.prog.Steps[i]
		for _, o := range append([]*Operand{&s.Out}, pointers(s.In)...) {
			if o.Space == Arena {
				o.Block = move(o.Block)
			}
		}
		if s.Scratch >= 0 {
			s.Scratch = move(s.Scratch)
		}
	}
	for _, n := range c.outputs() {
		if o := c.place[n]; o.Space == Arena {
			o.Block = move(o.Block)
			c.place[n] = o
		}
	}
	c.blocks = kept
	return nil
}

package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Spec says what a graph is compiled for.
type Spec struct {
	// Weights are the parameters; their memory comes from the caller's flat buffer.
	Weights []*G.Node
	// Grads are the gradients of Weights, in the same order, or nil for a graph without a backward pass.
	Grads []*G.Node
	// Shared are leaves whose memory all machines share (tables); every other leaf is an input in the arena.
	Shared []*G.Node
	// Outputs are the nodes that stay readable after a run, by name.
	Outputs map[string]*G.Node
	// Loss is where the forward pass ends: what is younger belongs to the backward pass. Nil without one.
	Loss *G.Node
	// Half stores what the backward pass needs from the forward pass as float16 in between.
	Half bool
}

// forever is the Last of a block that the caller reads after the run.
const forever = math.MaxInt32

// compiler holds what the passes hand on.
type compiler struct {
	spec   Spec
	order  []*G.Node       // what is computed, in order
	step   map[*G.Node]int // node -> its step
	last   map[*G.Node]int // owner of memory -> the last step that reads it or a view of it
	place  map[*G.Node]Operand
	blocks []Block
	prog   *Program

	readers map[*G.Node]int // owner of memory -> how many operands read it
	asked   map[*G.Node]int // owner of memory -> how often it is a gradient or an output
	done    map[*G.Node]int // sum that has no step of its own -> the step that completes it
}

// Compile makes a program of what spec asks for, and of nothing else: Grad also builds gradients that nobody
// needs. It is a pure function of the graph and the spec.
func Compile(spec Spec) (*Program, error) {
	if spec.Grads != nil && (len(spec.Grads) != len(spec.Weights) || spec.Loss == nil) {
		return nil, fmt.Errorf("compile: %d gradients for %d weights, loss %v: want one for each, and a loss", len(spec.Grads), len(spec.Weights), spec.Loss)
	}
	for i, n := range spec.Grads {
		if n == nil {
			return nil, fmt.Errorf("compile: weight %s has no gradient: nothing of the loss depends on it", spec.Weights[i].Name())
		}
	}
	for name, n := range spec.Outputs {
		if n == nil {
			return nil, fmt.Errorf("compile: output %s has no node", name)
		}
	}
	c := &compiler{
		spec: spec, step: map[*G.Node]int{}, last: map[*G.Node]int{}, place: map[*G.Node]Operand{},
		prog:    &Program{Outputs: map[string]Operand{}},
		readers: map[*G.Node]int{}, asked: map[*G.Node]int{}, done: map[*G.Node]int{},
	}
	for _, pass := range []func() error{c.schedule, c.lifetimes, c.leaves, c.steps, c.gradients, c.half, c.scratch, c.compact} {
		if err := pass(); err != nil {
			return nil, err
		}
	}
	for name, n := range spec.Outputs {
		c.prog.Outputs[name] = c.place[n]
	}
	c.prog.Plan = NewPlan(c.blocks)
	return c.prog, nil
}

// schedule: the nodes that are needed, each after its operands. A graph that only grew numbers its nodes in such an
// order; Gorgonia's rewrites could break that, so it is checked.
func (c *compiler) schedule() error {
	needed := map[*G.Node]bool{}
	need := func(nodes ...*G.Node) {
		for _, n := range nodes {
			if !needed[n] {
				needed[n] = true
				c.order = append(c.order, n)
			}
		}
	}
	need(c.spec.Grads...)
	need(c.outputs()...)
	for i := 0; i < len(c.order); i++ { // what is needed grows while its operands are looked up
		need(op.Children(c.order[i])...)
	}
	slices.SortFunc(c.order, byID)
	for _, n := range c.order {
		for _, operand := range op.Children(n) {
			if byID(operand, n) >= 0 {
				return fmt.Errorf("compile: node %d, %v, would run before node %d, its operand: the graph was rewritten", n.ID(), n.Op(), operand.ID())
			}
		}
		if !isLeaf(n) && view(n) == nil {
			c.step[n] = len(c.step)
		}
	}
	return nil
}

func byID(a, b *G.Node) int { return cmp.Compare(a.ID(), b.ID()) }

// outputs in a fixed order (maps have none), each once, though it may have several names.
func (c *compiler) outputs() []*G.Node {
	var nodes []*G.Node
	for _, n := range c.spec.Outputs {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b *G.Node) int { return int(a.ID() - b.ID()) })
	return slices.Compact(nodes)
}

// lifetimes: the last step that reads each piece of memory.
func (c *compiler) lifetimes() error {
	for _, n := range c.order {
		i, ok := c.step[n]
		if !ok {
			continue
		}
		c.last[n] = max(c.last[n], i)
		for _, child := range op.Children(n) {
			c.last[owner(child)] = i
			c.readers[owner(child)]++
		}
	}
	for _, n := range c.outputs() {
		c.last[owner(n)] = forever
		c.asked[owner(n)]++
	}
	for _, n := range c.spec.Grads {
		c.asked[owner(n)]++
	}
	return nil
}

// leaves: where weights, shared tables and inputs lie.
func (c *compiler) leaves() error {
	for _, n := range c.order {
		if !isLeaf(n) {
			continue
		}
		o := Operand{Name: n.Name(), Shape: n.Shape(), Int: n.Dtype() == tensor.Int32}
		switch {
		case slices.Contains(c.spec.Weights, n):
			o.Space = Weight
		case slices.Contains(c.spec.Shared, n):
			o.Space = Shared
		case n.Op() != nil || n.Value() != nil:
			if n.Shape().Dims() != 0 || fmt.Sprint(n.Value()) != "1" {
				return fmt.Errorf("compile: constant %v: only the 1 that seeds Grad is known", n)
			}
			o.Space = One
		default:
			o.Block = c.block(n.Name(), o.Words(), -1, max(c.last[n], 0))
			c.prog.Inputs = append(c.prog.Inputs, o)
		}
		c.place[n] = o
	}
	return nil
}

func (c *compiler) block(name string, words, first, last int) int {
	c.blocks = append(c.blocks, Block{Name: name, Size: words, First: first, Last: last})
	return len(c.blocks) - 1
}

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

// view is set when n is a part of its input.
func view(n *G.Node) *op.View {
	if o, ok := n.Op().(*op.Op); ok {
		return o.View
	}
	return nil
}

// owner is the node in whose memory n lies: a view's is that of its input, another's its own.
func owner(n *G.Node) *G.Node {
	if view(n) == nil {
		return n
	}
	return owner(op.Children(n)[0])
}

// isLeaf says whether n is given, as inputs and constants are, instead of computed.
func isLeaf(n *G.Node) bool { return len(op.Children(n)) == 0 }

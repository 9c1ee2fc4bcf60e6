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
	slices.SortFunc(nodes, byID)
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

package engine

import (
	"fmt"
	"time"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Memory is what a program is bound to.
type Memory struct {
	Arena   []float32 // at least Plan.Size words
	Layout  *Layout
	Weights []float32                                       // of Layout
	Grads   []float32                                       // of Layout; nil for a program without gradients
	Shared  func(name string, shape tensor.Shape) []float32 // tables; nil if the program has none
}

// Machine is a program in memory. It implements gorgonia.VM; one goroutine uses it at a time.
type Machine struct {
	prog   *Program
	memory Memory
	calls  []call
}

// call is a step with its operands resolved.
type call struct {
	run     func(*op.Env, op.Tensor, []op.Tensor)
	out     op.Tensor
	in      []op.Tensor
	scratch []float32
	grad    bool // out is a parameter's gradient
	add     bool // out is always added to
}

var _ G.VM = (*Machine)(nil)

// Bind resolves a program's operands to slices of memory, so that a run is nothing but kernel calls.
func (p *Program) Bind(memory Memory) (*Machine, error) {
	if len(memory.Arena) < p.Plan.Size {
		return nil, fmt.Errorf("bind: the program needs an arena of %d words, there are %d", p.Plan.Size, len(memory.Arena))
	}
	m := &Machine{prog: p, memory: memory}
	for _, s := range p.Steps {
		c := call{run: s.Op.Run, grad: s.Out.Space == Grad, add: s.Add}
		var err error
		if c.out, err = m.tensor(s.Out); err != nil {
			return nil, err
		}
		for _, in := range s.In {
			t, err := m.tensor(in)
			if err != nil {
				return nil, err
			}
			c.in = append(c.in, t)
		}
		if s.Scratch >= 0 {
			c.scratch = memory.Arena[p.Plan.Offsets[s.Scratch]:][:s.Op.Scratch]
		}
		m.calls = append(m.calls, c)
	}
	return m, nil
}

func (m *Machine) tensor(o Operand) (op.Tensor, error) {
	t := op.Tensor{Shape: o.Shape}
	n := o.Words()
	switch o.Space {
	case Arena:
		t.Data = m.memory.Arena[m.prog.Plan.Offsets[o.Block]+o.Offset:][:n:n]
		if o.Int {
			t.Data, t.Ints = nil, unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(t.Data))), n)
		}
		return t, nil
	case Weight:
		t.Data = m.memory.Layout.View(m.memory.Weights, o.Name)
	case Grad:
		if m.memory.Grads != nil {
			t.Data = m.memory.Layout.View(m.memory.Grads, o.Name)
		}
	case Shared:
		if m.memory.Shared != nil {
			t.Data = m.memory.Shared(o.Name, o.Shape)
		}
	case One:
		t.Data = []float32{1}
	}
	if len(t.Data) != n {
		return t, fmt.Errorf("bind: %s needs %d words, there are %d", m.prog.place(o), n, len(t.Data))
	}
	return t, nil
}

// Run computes everything once. With add, parameter gradients are added to what the flat buffer holds;
// without it they replace it. It can't fail and doesn't allocate.
func (m *Machine) Run(env *op.Env, add bool, profile *Profile) {
	if profile != nil {
		m.runProfiled(env, add, profile)
		return
	}
	for i := range m.calls {
		m.calls[i].do(env, add)
	}
}

func (c *call) do(env *op.Env, add bool) {
	env.Scratch = c.scratch
	env.Add = c.add || add && c.grad
	c.run(env, c.out, c.in)
}

func (m *Machine) runProfiled(env *op.Env, add bool, profile *Profile) {
	for i := range m.calls {
		start := time.Now()
		m.calls[i].do(env, add)
		profile.add(m.prog.Steps[i].Op, m.prog.Steps[i].bytes(), time.Since(start))
	}
}

// RunAll computes everything once, gradients anew: gorgonia.VM. All inputs have to be filled before each run.
func (m *Machine) RunAll() error {
	m.Run(&op.Env{BLAS: op.NewBLAS()}, false, nil)
	return nil
}

// Reset has nothing to do: what a run computes depends on its inputs and the memory it is bound to alone.
func (m *Machine) Reset() {}

// Close forgets the memory, which belongs to the caller.
func (m *Machine) Close() error {
	m.calls, m.memory = nil, Memory{}
	return nil
}

// Input is the memory of an input, to be filled before a run; it may be overwritten during the run. It is the
// zero Tensor where the program has no such input.
func (m *Machine) Input(name string) op.Tensor {
	for _, o := range m.prog.Inputs {
		if o.Name == name {
			t, _ := m.tensor(o) // arena operands always resolve
			return t
		}
	}
	return op.Tensor{}
}

// Output is the memory of an output, to be read after a run and before the next.
func (m *Machine) Output(name string) op.Tensor {
	o, ok := m.prog.Outputs[name]
	if !ok {
		return op.Tensor{}
	}
	t, _ := m.tensor(o) // resolved once already, in Bind
	return t
}

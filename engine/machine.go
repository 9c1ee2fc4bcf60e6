package engine

import (
	"fmt"
	"time"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Memory is what a program is bound to, in the host's memory.
type Memory struct {
	Arena   []byte // at least Plan.Size, aligned to 64 bytes
	Layout  *Layout
	Weights []byte                                          // of Layout
	Grads   []byte                                          // of Layout; nil for a program without gradients
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
	if int64(len(memory.Arena)) < p.Plan.Size {
		return nil, fmt.Errorf("bind: the program needs an arena of %d bytes, there are %d", p.Plan.Size, len(memory.Arena))
	}
	m := &Machine{prog: p, memory: memory}
	for _, s := range p.Steps {
		c := call{run: s.Kernel.Run, grad: s.Out.Space == Grad, add: s.Add}
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
			c.scratch = floats(memory.Arena[p.Plan.Offsets[s.Scratch]:][:s.Kernel.Scratch])
		}
		m.calls = append(m.calls, c)
	}
	return m, nil
}

// tensor is the memory of an operand.
func (m *Machine) tensor(o Operand) (op.Tensor, error) {
	n := o.Type.Bytes()
	switch o.Space {
	case Arena:
		return tensorOf(m.memory.Arena[m.prog.Plan.Offsets[o.Buffer]+o.Offset:][:n:n], o.Type), nil
	case One:
		return op.Tensor{Shape: o.Type.Shape, Data: []float32{1}}, nil
	case Shared:
		var table []float32
		if m.memory.Shared != nil {
			table = m.memory.Shared(o.Name, o.Type.Shape)
		}
		if len(table) != o.Type.Elements() {
			return op.Tensor{}, fmt.Errorf("bind: %v needs %d elements, there are %d", o, o.Type.Elements(), len(table))
		}
		return op.Tensor{Shape: o.Type.Shape, Data: table}, nil
	}
	flat := m.memory.Weights
	if o.Space == Grad {
		flat = m.memory.Grads
	}
	b := m.memory.Layout.view(flat, o.Name)
	if int64(len(b)) != n {
		return op.Tensor{}, fmt.Errorf("bind: %v needs %d bytes, there are %d", o, n, len(b))
	}
	return tensorOf(b, o.Type), nil
}

// tensorOf sees bytes of the host's memory as a tensor.
func tensorOf(b []byte, of op.Type) op.Tensor {
	t := op.Tensor{Shape: of.Shape}
	switch of.Of {
	case op.Float16:
		t.Halves = elements[uint16](b)
	case op.Int32:
		t.Ints = elements[int32](b)
	case op.Float64:
		t.Doubles = elements[float64](b)
	default:
		t.Data = floats(b)
	}
	return t
}

func floats(b []byte) []float32 { return elements[float32](b) }

// elements sees bytes as elements of another type; they are aligned, since devices and plans align everything.
func elements[T any](b []byte) []T {
	if len(b) == 0 {
		return []T{}
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// Run computes everything once. With add, gradients are added to what the flat buffer holds; without it they replace
// it. It can't fail and doesn't allocate.
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
		profile.add(m.prog.Steps[i].Op, float64(m.prog.Steps[i].bytes()), time.Since(start))
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

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

// Machine is a program in memory. It implements gorgonia.VM; one goroutine uses it at a time. There is one for each
// worker and program, so it is kept small: it knows where each operand starts, the program knows the rest.
type Machine struct {
	prog   *Program
	memory Memory
	starts []unsafe.Pointer // of Program.operands
	in     []op.Tensor      // operands of the step that runs
}

var _ G.VM = (*Machine)(nil)

// Bind resolves a program's operands to places in memory, so that a run is nothing but kernel calls.
func (p *Program) Bind(memory Memory) (*Machine, error) {
	if int64(len(memory.Arena)) < p.Plan.Size {
		return nil, fmt.Errorf("bind: the program needs an arena of %d bytes, there are %d", p.Plan.Size, len(memory.Arena))
	}
	m := &Machine{prog: p, memory: memory, starts: make([]unsafe.Pointer, len(p.operands))}
	for i := range p.operands {
		b, err := m.bytes(p.operands[i])
		if err != nil {
			return nil, err
		}
		m.starts[i] = unsafe.Pointer(unsafe.SliceData(b))
	}
	most := 0
	for i := range p.Steps {
		most = max(most, len(p.Steps[i].In))
	}
	m.in = make([]op.Tensor, most)
	return m, nil
}

// theOne is what operands of the space One read. Nobody writes to it: a result never lies in the memory of an operand
// outside the arena.
var theOne = [1]float32{1}

// bytes is the memory of an operand.
func (m *Machine) bytes(o Operand) ([]byte, error) {
	n := o.Type.Bytes()
	switch o.Space {
	case Arena:
		return m.memory.Arena[m.prog.Plan.Offsets[o.Buffer]+o.Offset:][:n:n], nil
	case One:
		return bytesOf(theOne[:]), nil
	case Shared:
		var table []float32
		if m.memory.Shared != nil {
			table = m.memory.Shared(o.Name, o.Type.Shape)
		}
		if len(table) != o.Type.Elements() {
			return nil, fmt.Errorf("bind: %v needs %d elements, there are %d", o, o.Type.Elements(), len(table))
		}
		return bytesOf(table), nil
	}
	flat := m.memory.Weights
	if o.Space == Grad { // shorter than the weights where some are frozen
		flat = m.memory.Grads
	}
	b := m.memory.Layout.view(flat, o.Name)
	if int64(len(b)) != n {
		return nil, fmt.Errorf("bind: %v needs %d bytes, there are %d", o, n, len(b))
	}
	return b, nil
}

func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// tensor is an operand of a step in the memory that it is bound to.
func (m *Machine) tensor(o *Operand) op.Tensor {
	return tensorOf(unsafe.Slice((*byte)(m.starts[o.index]), o.Type.Bytes()), o.Type)
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
	for i := range m.prog.Steps {
		m.do(&m.prog.Steps[i], env, add)
	}
}

// do runs one step.
func (m *Machine) do(s *Step, env *op.Env, add bool) {
	env.Scratch = nil
	if s.Scratch >= 0 {
		env.Scratch = floats(m.memory.Arena[m.prog.Plan.Offsets[s.Scratch]:][:s.Kernel.Scratch])
	}
	env.Add = s.Add || add && s.Out.Space == Grad
	in := m.in[:len(s.In)]
	for i, o := range s.In {
		in[i] = m.tensor(o)
	}
	s.Kernel.Run(env, m.tensor(s.Out), in)
}

func (m *Machine) runProfiled(env *op.Env, add bool, profile *Profile) {
	for i := range m.prog.Steps {
		s := &m.prog.Steps[i]
		start := time.Now()
		m.do(s, env, add)
		profile.add(&s.Op, float64(s.bytes()), time.Since(start))
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
	*m = Machine{prog: &Program{}}
	return nil
}

// Input is the memory of an input, to be filled before a run; it may be overwritten during the run. It is the
// zero Tensor where the program has no such input.
func (m *Machine) Input(name string) op.Tensor {
	for _, o := range m.prog.Inputs {
		if o.Name == name {
			b, _ := m.bytes(o) // arena operands always resolve
			return tensorOf(b, o.Type)
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
	b, _ := m.bytes(o) // resolved once already, in Bind
	return tensorOf(b, o.Type)
}

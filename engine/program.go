package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"konkanitrain/op"
)

// Space says which memory an operand lies in.
type Space uint8

const (
	Arena      Space = iota // a planned buffer: intermediates, inputs, scratch
	Weight                  // a parameter
	HalfWeight              // its float16 copy, on a card
	Grad                    // the gradient of a parameter
	Shared                  // a constant table that all machines read
	One                     // the constant 1 that seeds Grad
)

// Operand is where a step finds or puts a tensor.
type Operand struct {
	Space  Space
	index  int32   // in Program.operands
	Name   string  // its place in the network, or the name of a Weight, Grad or Shared tensor
	Buffer int     // index into Plan.Buffers, for Arena
	Offset int64   // bytes from the start of the buffer
	Type   op.Type // element type and shape
}

// Work is what a program remembers of an op; the op itself belongs to the graph. The fields are those of op.Op.
type Work struct {
	Name, Params string
	Place, Block string
	FLOPs        float64 // floating-point operations
}

// Step is one kernel call. Steps that read or write the same value share its Operand.
type Step struct {
	Op       Work
	Kernel   op.Kernel
	Out      *Operand
	In       []*Operand
	Scratch  int  // buffer of Kernel.Scratch bytes, or -1
	Add      bool // the result is added to what Out holds
	Backward bool // runs in the backward pass
}

// bytes is what a step reads and writes: on a card what its launches say, else each operand once.
func (s Step) bytes() int64 {
	if s.Kernel.Launches != nil {
		sum := int64(0)
		for i := range s.Kernel.Launches {
			sum += s.Kernel.Launches[i].Bytes
		}
		return sum
	}
	n := s.Out.Type.Bytes()
	for _, in := range s.In {
		n += in.Type.Bytes()
	}
	return n
}

// Program is a compiled graph: what runs, in which order, and where everything lies. It is plain data, holds
// no memory, and is never changed once compiled.
type Program struct {
	Steps   []Step
	Plan    Plan
	Inputs  []Operand          // Arena operands that the caller fills before a run
	Outputs map[string]Operand // what stays readable after a run
	Grads   []string           // parameters whose gradients a run produces
	Losses  []string           // outputs that have to be finite

	// InputBytes is what all inputs take together, for a card. They lie one behind the other in one buffer there, the
	// late ones from Late on: one copy fills them.
	InputBytes, Late int64

	operands []Operand // of all steps, each once
}

// ArenaBytes is what one machine's arena takes: on a card with room for the next run's inputs behind the plan, which
// are copied there while this one runs.
func (p *Program) ArenaBytes() int64 { return p.Plan.Size + p.InputBytes }

// outputNames are the names of the outputs, in their order.
func (p *Program) outputNames() []string { return slices.Sorted(maps.Keys(p.Outputs)) }

// FLOPs is the number of floating-point operations of one run, those that are repeated included.
func (p *Program) FLOPs() float64 {
	sum := 0.0
	for _, s := range p.Steps {
		sum += s.Op.FLOPs
	}
	return sum
}

// String is the program's stable text form: steps, then the plan. Values are called by their place in the network.
func (p *Program) String() string {
	var s strings.Builder
	for i, step := range p.Steps {
		equals := "="
		if step.Add {
			equals = "+="
		}
		fmt.Fprintf(&s, "%4d %v%s %s %s{%s}(", i, step.Out, shapeText(step.Out.Type), equals, step.Op.Name, step.Op.Params)
		for j, in := range step.In {
			if j > 0 {
				s.WriteString(", ")
			}
			s.WriteString(in.String())
		}
		s.WriteString(")\n")
	}
	return s.String() + p.Plan.String()
}

// String is the operand's name, with its space where that isn't the arena.
func (o Operand) String() string {
	switch o.Space {
	case Grad:
		return "grad(" + o.Name + ")"
	case HalfWeight:
		return "half(" + o.Name + ")"
	case Shared:
		return "shared(" + o.Name + ")"
	case One:
		return "1"
	}
	return o.Name
}

// shapeText is "[2×6×8]", with the element type where it isn't float32.
func shapeText(t op.Type) string {
	text := strings.ReplaceAll(fmt.Sprint([]int(t.Shape)), " ", "×")
	if t.Of != op.Float32 {
		text += " " + t.Of.String()
	}
	return text
}

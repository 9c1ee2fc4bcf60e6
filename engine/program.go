package engine

import (
	"fmt"
	"strings"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Space says which memory an operand lies in.
type Space uint8

const (
	Arena  Space = iota // a planned block: intermediates, inputs, scratch
	Weight              // a parameter
	Grad                // the gradient of a parameter
	Shared              // a constant table that all machines read
	One                 // the constant 1 that seeds Grad
)

// Operand is where a step finds or puts a tensor.
type Operand struct {
	Space  Space
	Name   string // of a Weight, Grad or Shared tensor
	Block  int    // index into Plan.Blocks, for Arena
	Offset int    // words from the start of the block
	Shape  tensor.Shape
	Int    bool
}

// Words is the operand's size.
func (o Operand) Words() int { return op.Size(o.Shape) }

// Step is one kernel call.
type Step struct {
	Op       *op.Op
	Out      Operand
	In       []Operand
	Scratch  int  // block of Op.Scratch words, or -1
	Add      bool // the result is added to what Out holds
	Backward bool // after the loss
}

// Program is a compiled graph: what runs, in which order, and where everything lies. It is plain data, holds
// no memory, and is never changed once compiled.
type Program struct {
	Steps   []Step
	Plan    Plan
	Inputs  []Operand          // Arena operands that the caller fills before a run; Name is set
	Outputs map[string]Operand // what stays readable after a run
	Grads   []string           // parameters whose gradients a run produces
}

// ArenaBytes is what one machine's arena takes.
func (p *Program) ArenaBytes() int { return 4 * p.Plan.Size }

// FLOPs is the number of floating-point operations of one run.
func (p *Program) FLOPs() float64 {
	sum := 0.0
	for _, s := range p.Steps {
		sum += s.Op.FLOPs
	}
	return sum
}

// String is the program's stable text form: steps, then the plan.
func (p *Program) String() string {
	var s strings.Builder
	for i, step := range p.Steps {
		equals := "="
		if step.Add {
			equals = "+="
		}
		fmt.Fprintf(&s, "%4d %s %s %s{%s}(", i, p.place(step.Out), equals, step.Op.Name, step.Op.Params)
		for j, in := range step.In {
			if j > 0 {
				s.WriteString(", ")
			}
			s.WriteString(p.place(in))
		}
		s.WriteString(")\n")
	}
	return s.String() + p.Plan.String()
}

func (p *Program) place(o Operand) string {
	shape := strings.ReplaceAll(fmt.Sprint([]int(o.Shape)), " ", "×")
	switch o.Space {
	case Arena:
		return fmt.Sprintf("%d%s", p.Plan.Offsets[o.Block]+o.Offset, shape)
	case Weight:
		return o.Name
	case Grad:
		return "grad(" + o.Name + ")"
	case Shared:
		return "shared(" + o.Name + ")"
	default:
		return "1"
	}
}

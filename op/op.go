package op

import (
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Op is an operation on shapes that are fixed: its mathematics, without anything that only one target needs. Nothing in
// it changes when it runs, so that any number of workers may share it.
type Op struct {
	// Name is the family ("linear", "attention.grad"): the row of a profile.
	Name string
	// Params is every parameter beside the shapes, in a fixed form: what is missing here doesn't tell two ops apart.
	Params string
	In     []Type
	Out    Type
	// View is set where nothing has to be computed, because the result lies inside the one input.
	View *View
	// Updates lists the inputs that change in place beside the result. It is nil for all ops of a graph.
	Updates []int
	// FLOPs is the number of floating-point operations of one run, for profiles and predictions of time: a
	// multiplication with an addition counts 2, an exponential, a division or a root some 4, and what depends on
	// lengths as if every row were full.
	FLOPs float64
	// Place is where in the network the op stands ("encoder.blocks.3.ffn1.up"), and Block the block of the network that
	// it belongs to ("encoder.blocks.3"), "" outside of blocks. A gradient's are those of its forward op. Neither is
	// part of the op's identity: where two equal ops are one node, they are those of the first.
	Place, Block string

	family maths
	// grad writes the backward pass of the node out down: a node of g, or nil, for each input. g stands where out does.
	// A backward op has neither grad nor wrt.
	grad func(g *Graph, in G.Nodes, out, dy *G.Node) G.Nodes
	wrt  []bool // the inputs with a gradient; those after the last one may be left out
}

var _ G.SDOp = (*Op)(nil)

// String is the op's whole identity: two ops are the same if and only if their strings are. The element types of the
// inputs follow from the rest.
func (o *Op) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s{%s}(", o.Name, o.Params)
	for i, t := range o.In {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(shapeString(t.Shape))
	}
	s.WriteString(") " + shapeString(o.Out.Shape))
	if o.Out.Of != Float32 {
		s.WriteString(" " + o.Out.Of.String())
	}
	return s.String()
}

// WriteHash feeds the identity to Gorgonia's hash of the node.
func (o *Op) WriteHash(h hash.Hash) { io.WriteString(h, o.String()) }

// Hashcode is the hash of the op alone, without its operands.
func (o *Op) Hashcode() uint32 {
	code := fnv.New32a()
	o.WriteHash(code)
	return code.Sum32()
}

// Arity is the number of inputs.
func (o *Op) Arity() int { return len(o.In) }

// OverwritesInput is -1, none: Kernel.InPlace is between the op and our engine.
func (o *Op) OverwritesInput() int { return -1 }

// CallsExtern is false: no library or device outside Go computes the op.
func (o *Op) CallsExtern() bool { return false }

// ReturnsPtr is false, as the results of Do lie in memory of their own.
func (o *Op) ReturnsPtr() bool { return false }

// Type is the op's function type, each time a new one: Gorgonia recycles what it gets.
func (o *Op) Type() hm.Type {
	var types []hm.Type
	for _, in := range o.In {
		types = append(types, in.hm())
	}
	return hm.NewFnType(append(types, o.Out.hm())...)
}

func (t Type) hm() hm.Type {
	of := tensor.Float32
	if t.Of == Int32 {
		of = tensor.Int32
	}
	if t.Shape.Dims() == 0 {
		return of
	}
	return G.TensorType{Dims: t.Shape.Dims(), Of: of}
}

// InferShape returns the result's shape, after checking that the inputs have the shapes the op was made for.
func (o *Op) InferShape(in ...G.DimSizer) (tensor.Shape, error) {
	for i, d := range in {
		if s, ok := d.(tensor.Shape); !ok || !slices.Equal(s, o.In[i].Shape) {
			return nil, fmt.Errorf("%v: input %d has shape %v", o, i, d)
		}
	}
	return o.Out.Shape.Clone(), nil
}

// DiffWRT says which inputs have a gradient. Gorgonia reads the answer for each of them, and asks backward ops too.
func (o *Op) DiffWRT(inputs int) []bool {
	answer := make([]bool, inputs)
	copy(answer, o.wrt)
	return answer
}

// SymDiff adds the backward pass of one node to its graph. Gorgonia accepts nil for an input without a gradient.
func (o *Op) SymDiff(in G.Nodes, out, dy *G.Node) (G.Nodes, error) {
	if o.grad == nil {
		return nil, fmt.Errorf("no gradient is defined through %v", o)
	}
	g := &Graph{ExprGraph: out.Graph(), place: o.Place, block: o.Block}
	grads := o.grad(g, in, out, dy)
	return grads, g.err
}

// Ref computes o by its specification, plain loops in float64.
func (o *Op) Ref(out Array, in []Array) { o.family.ref(out, in) }

// Do is the CPU kernel for Gorgonia's TapeMachine, with the plain BLAS. The result must not share memory with anything:
// the tape adds gradients up in place.
func (o *Op) Do(values ...G.Value) (G.Value, error) {
	kernel, err := o.Kernel(CPU)
	if err != nil {
		return nil, err
	}
	operands := make([]Tensor, 0, len(values))
	for i, v := range values {
		x, err := FromValue(v)
		if err == nil && !slices.Equal(x.Shape, o.In[i].Shape) {
			err = fmt.Errorf("the shape is %v", x.Shape)
		}
		if err != nil {
			return nil, fmt.Errorf("input %d of %v: %w", i, o, err)
		}
		operands = append(operands, x)
	}
	result := make([]float32, o.Out.Elements())
	env := Env{BLAS: Gonum{}, Scratch: make([]float32, (kernel.Scratch+3)/4)}
	kernel.Run(&env, Tensor{Data: result, Shape: o.Out.Shape}, operands)
	if o.Out.Shape.Dims() > 0 {
		return tensor.New(tensor.WithShape(o.Out.Shape...), tensor.WithBacking(result)), nil
	}
	return G.NewF32(result[0]), nil // what Gorgonia's types call a scalar is a number
}

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

// Type is the element type and shape of an operand; every shape is known when the graph is built.
type Type struct {
	Shape tensor.Shape // empty for a scalar
	Int   bool         // int32 (lengths, tokens, random keys) instead of float32
}

// Tensor is a dense row-major array of float32 (Data) or int32 (Ints): what a kernel computes on.
type Tensor struct {
	Data  []float32
	Ints  []int32
	Shape tensor.Shape
}

// Array is what a specification computes on: a Tensor in float64.
type Array struct {
	Data  []float64
	Ints  []int32
	Shape tensor.Shape
}

// Env is what a kernel may use beside its operands. It belongs to one worker.
type Env struct {
	BLAS    BLAS
	Scratch []float32 // at least Op.Scratch long, with any content, aligned to 64 bytes
	Add     bool      // add to out instead of writing it; only set for an op that Accumulates
}

// Op is an operation on shapes that are fixed. Nothing in it changes when it runs, so that any number of workers may
// share it.
type Op struct {
	// Name is the family ("linear", "attention.grad"): the row of a profile.
	Name string
	// Params is every parameter beside the shapes, in a fixed form: what is missing here doesn't tell two ops apart.
	Params string
	In     []Type
	Out    tensor.Shape

	// Run is the kernel. It writes, or with Env.Add adds to, all of out, whatever is there before, and returns with
	// the work done: no goroutine, no allocation, no error, no argument kept for later.
	Run func(e *Env, out Tensor, in []Tensor)
	// Ref is the same in plain float64 loops.
	Ref func(out Array, in []Array)
	// View is set where nothing has to be computed, because the result lies inside the one input.
	View *View
	// Scratch is the number of float32s that Run needs in Env.Scratch.
	Scratch int
	// InPlace lists the inputs whose memory the result may take, if nobody reads them later.
	InPlace []int
	// Accumulates says that Run honours Env.Add: a parameter's gradient is then summed without a copy.
	Accumulates bool
	// FLOPs is the number of floating-point operations of one run, for profiles.
	FLOPs float64

	// grad writes down the backward pass: a node, or nil, for each input. A backward op has neither grad nor wrt.
	grad func(in G.Nodes, out, dy *G.Node) (G.Nodes, error)
	wrt  []bool // the inputs with a gradient; those after the last one may be left out
}

var _ G.SDOp = (*Op)(nil)

// String is the op's whole identity: two ops are the same if and only if their strings are.
func (o *Op) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s{%s}(", o.Name, o.Params)
	for i, t := range o.In {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(shapeString(t.Shape))
	}
	s.WriteString(") " + shapeString(o.Out))
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

// OverwritesInput is -1, none: InPlace is between the op and our engine.
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
	return hm.NewFnType(append(types, Type{Shape: o.Out}.hm())...)
}

func (t Type) hm() hm.Type {
	of := tensor.Float32
	if t.Int {
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
	return o.Out.Clone(), nil
}

// DiffWRT says which inputs have a gradient. Gorgonia reads the answer for each of them, and asks backward ops too.
func (o *Op) DiffWRT(inputs int) []bool {
	answer := make([]bool, inputs)
	copy(answer, o.wrt)
	return answer
}

// SymDiff adds the backward pass of one node to its graph. Gorgonia accepts nil for an input without a gradient.
func (o *Op) SymDiff(in G.Nodes, out, dy *G.Node) (G.Nodes, error) {
	if o.grad != nil {
		return o.grad(in, out, dy)
	}
	return nil, fmt.Errorf("no gradient is defined through %v", o)
}

// Do is Run for Gorgonia's TapeMachine, with the plain BLAS. The result must not share memory with anything: the
// tape adds gradients up in place.
func (o *Op) Do(values ...G.Value) (G.Value, error) {
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
	result := make([]float32, Size(o.Out))
	env := Env{BLAS: Gonum{}, Scratch: make([]float32, o.Scratch)}
	o.Run(&env, Tensor{Data: result, Shape: o.Out}, operands)
	if o.Out.Dims() > 0 {
		return tensor.New(tensor.WithShape(o.Out...), tensor.WithBacking(result)), nil
	}
	return G.NewF32(result[0]), nil // what Gorgonia's types call a scalar is a number
}

// FromValue makes a Tensor of v. It shares the memory of v, except for a scalar's, which Gorgonia gives by value.
func FromValue(v G.Value) (Tensor, error) {
	t := Tensor{Shape: v.Shape()}
	switch data := v.Data().(type) {
	case float32:
		t.Data = []float32{data}
	case []float32:
		t.Data = data
	case []int32:
		t.Ints = data
	default:
		return t, fmt.Errorf("a value of %v: ops know float32 and int32", v.Dtype())
	}
	return t, nil
}

// Size is the number of elements, of which a scalar has one.
func Size(s tensor.Shape) int { return s.TotalSize() }

func shapeString(s tensor.Shape) string {
	return strings.ReplaceAll(fmt.Sprint([]int(s)), " ", "×")
}

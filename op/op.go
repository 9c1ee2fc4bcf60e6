package op

import (
	"fmt"
	"hash"
	"hash/fnv"
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

// Op implements gorgonia.Op and gorgonia.SDOp. It keeps no state between runs.
type Op struct {
	// Name is the family ("linear", "attention.grad"): the row of a profile.
	Name string
	// Params is every parameter beside the shapes, in a fixed form. Gorgonia takes two ops with equal Name,
	// Params and shapes, and equal children, for one node.
	Params string
	In     []Type
	Out    tensor.Shape

	// Run computes out from in and writes every element of out (or adds to it, see Env.Add). It doesn't
	// allocate, can't fail, starts no goroutine and keeps none of its arguments.
	Run func(e *Env, out Tensor, in []Tensor)
	// Ref is the same in plain float64 loops.
	Ref func(out Array, in []Array)
	// View is set when the result is a part of the only input: an engine then makes it an alias.
	View *View
	// Scratch is the number of float32s that Run needs in Env.Scratch.
	Scratch int
	// InPlace lists the inputs whose memory the result may take, if nobody reads them later.
	InPlace []int
	// Accumulates says that Run honours Env.Add: a parameter's gradient is then summed without a copy.
	Accumulates bool
	// FLOPs is the number of floating-point operations of one run, for profiles.
	FLOPs float64

	wrt  []bool // which inputs have a gradient; nil means none
	grad func(in G.Nodes, out, dy *G.Node) (G.Nodes, error)
}

// View is a run of elements of the input, from Offset on, taken as a tensor of the result's shape.
type View struct{ Offset int }

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

// WriteHash feeds the identity to Gorgonia's hash.
func (o *Op) WriteHash(h hash.Hash) { fmt.Fprint(h, o.String()) }

// Hashcode is Gorgonia's identity of the op.
func (o *Op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// Arity is the number of inputs.
func (o *Op) Arity() int { return len(o.In) }

// ReturnsPtr is false: the tape must give every result fresh memory.
func (o *Op) ReturnsPtr() bool { return false }

// CallsExtern is false: nothing outside Go is called.
func (o *Op) CallsExtern() bool { return false }

// OverwritesInput is -1: on the tape no input is ever written to.
func (o *Op) OverwritesInput() int { return -1 }

// Type is the op's function type. It is built anew each time, because Gorgonia returns it to a pool.
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

// DiffWRT has one entry for each input, on backward ops as well: Gorgonia indexes it without a check.
func (o *Op) DiffWRT(inputs int) []bool {
	if o.wrt == nil {
		return make([]bool, inputs)
	}
	return o.wrt
}

// SymDiff builds the gradient nodes; nil stands for an input without one.
func (o *Op) SymDiff(in G.Nodes, out, dy *G.Node) (G.Nodes, error) {
	if o.grad == nil {
		return nil, fmt.Errorf("%v has no gradient", o)
	}
	return o.grad(in, out, dy)
}

// Do is how the TapeMachine runs the op. It returns fresh memory, because the tape's own "+" writes into its
// left operand.
func (o *Op) Do(values ...G.Value) (G.Value, error) {
	in := make([]Tensor, len(values))
	for i, v := range values {
		t, err := FromValue(v)
		if err != nil {
			return nil, fmt.Errorf("%v: input %d: %w", o, i, err)
		}
		if !slices.Equal(t.Shape, o.In[i].Shape) {
			return nil, fmt.Errorf("%v: input %d has shape %v", o, i, t.Shape)
		}
		in[i] = t
	}
	out := Tensor{Data: make([]float32, Size(o.Out)), Shape: o.Out}
	o.Run(&Env{BLAS: Gonum{}, Scratch: make([]float32, o.Scratch)}, out, in)
	if o.Out.Dims() == 0 { // a scalar result must be a scalar value, not a tensor without dimensions
		return G.NewF32(out.Data[0]), nil
	}
	return tensor.New(tensor.WithShape(o.Out...), tensor.WithBacking(out.Data)), nil
}

// FromValue is the memory of v, not a copy.
func FromValue(v G.Value) (Tensor, error) {
	switch d := v.Data().(type) {
	case []float32:
		return Tensor{Data: d, Shape: v.Shape()}, nil
	case []int32:
		return Tensor{Ints: d, Shape: v.Shape()}, nil
	case float32:
		return Tensor{Data: []float32{d}, Shape: v.Shape()}, nil
	}
	return Tensor{}, fmt.Errorf("element type is %v, want float32 or int32", v.Dtype())
}

// Size is the number of elements: 1 for a scalar, where Gorgonia's TotalSize may say otherwise.
func Size(s tensor.Shape) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

func shapeString(s tensor.Shape) string {
	return strings.ReplaceAll(fmt.Sprint([]int(s)), " ", "×")
}

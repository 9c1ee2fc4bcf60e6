package optest

import (
	"errors"
	"fmt"
	"slices"

	"konkanitrain/op"
)

// Machine is what kernels run on: a core of the processor ([CPU]), or a card ([OnCard]).
type Machine interface {
	// Kernels are how the machine computes o: one kernel, or one for each type that its result may have.
	Kernels(o *op.Op) ([]Kernel, error)
	// rounding is how the machine's results may differ from what a case says of the processor's.
	rounding() rounding
}

// Kernel is an op's kernel on a machine.
type Kernel struct {
	op.Kernel
	In    []op.DType // of the operands
	Out   op.DType   // of the result
	Parts []op.Part  // of a packed result, where the machine gives each a type of its own

	// run computes a run's result, and says what is in its operands afterwards.
	run func(r run) (out op.Tensor, in []op.Tensor, err error)
}

// run is one run of a kernel, on copies of its operands. Scratch memory, and the memory of a result, hold NaN before.
type run struct {
	in    []op.Tensor
	place int        // the operand in whose memory the result lies, -1 for memory of its own
	onto  *op.Tensor // what the result is added to, nil to write it
}

// plain is a run with a result in memory of its own.
func plain(in []op.Tensor) run { return run{in: in, place: -1} }

// rounding is what a machine's arithmetic adds to the tolerances of cases; those of 0 ask for equality everywhere.
type rounding struct {
	half   bool    // activations are float16: Case.HalfTol counts
	kernel float64 // what a kernel may be off by at least
	sums   float64 // what sums over utterances may be off by at least
	// ordered says that a sum over utterances has the order of their rows, so that one more term of 0 changes no bit.
	ordered bool
}

// tolerance is what a kernel's result may be off by, relative to the largest value, before it is rounded to its type.
func (r rounding) tolerance(c Case) (float64, string) {
	switch {
	case r.half && c.HalfTol > 0:
		return c.HalfTol, c.HalfWhy
	case c.Tol == 0:
		return 0, c.Why
	}
	return max(c.Tol, r.kernel), c.Why
}

// cpu is one core of the processor.
type cpu struct{ blas op.BLAS }

// CPU is one core of the processor.
func CPU() Machine { return cpu{op.NewBLAS()} }

func (cpu) rounding() rounding { return rounding{ordered: true} }

func (m cpu) Kernels(o *op.Op) ([]Kernel, error) {
	k, err := o.Kernel(op.CPU)
	if err != nil {
		return nil, err
	}
	return []Kernel{{Kernel: k, In: typesOf(o), Out: o.Out.Of, run: func(r run) (op.Tensor, []op.Tensor, error) {
		in, out, env := clones(r.in), dirty(o.Out), NewEnv(m.blas, k)
		if r.place >= 0 {
			out = in[r.place]
			out.Shape = o.Out.Shape
		}
		if r.onto != nil {
			out, env.Add = clone(*r.onto), true
		}
		k.Run(env, out, in)
		return out, in, nil
	}}}, nil
}

func typesOf(o *op.Op) (types []op.DType) {
	for _, t := range o.In {
		types = append(types, t.Of)
	}
	return types
}

// NewEnv is what a run of k on the processor needs, with NaN in the scratch memory.
func NewEnv(blas op.BLAS, k op.Kernel) *op.Env {
	return &op.Env{BLAS: blas, Scratch: nans(int(k.Scratch+3) / 4)}
}

// operands are values as the kernel takes them: what it reads as float16 is rounded to that.
func (k Kernel) operands(in []op.Tensor) []op.Tensor {
	out := make([]op.Tensor, len(in))
	for i, x := range in {
		out[i] = as(k.In[i], x)
	}
	return out
}

// as is x with elements of another type, if it has another: floats are rounded to float16, or are exact in float32.
func as(of op.DType, x op.Tensor) op.Tensor {
	a := NewArray(x)
	switch {
	case of == op.Float16 && x.Halves == nil:
		store := op.NewHalfStore(len(a.Data))
		rounded := blank(op.Type{Shape: x.Shape})
		store.Ref(rounded, []op.Array{a})
		return NewTensor(op.Type{Shape: x.Shape, Of: of}, rounded)
	case of == op.Float32 && x.Halves != nil:
		return NewTensor(op.Type{Shape: x.Shape}, a)
	}
	return x
}

// checkOp holds the kernels of o to its specification and to what they say about themselves. parts are the lengths of
// the parts of a packed result.
func checkOp(m Machine, c Case, o *op.Op, operands []op.Tensor, parts []int) error {
	kernels, err := m.Kernels(o)
	if err != nil {
		return err
	}
	var checks []error
	for _, k := range kernels {
		in := k.operands(operands)
		err := errors.Join(checkValues(m, c, o, k, in, parts), checkKernel(o, k, in))
		if host, ok := m.(cpu); ok && err == nil {
			err = host.check(o, k, in)
		}
		if err != nil {
			checks = append(checks, fmt.Errorf("kernel of %v with a result of %v: %w", o, k.Out, err))
		}
	}
	return errors.Join(checks...)
}

// checkValues compares the result of k, and the operands that it updates, with the specification on the same operands.
func checkValues(m Machine, c Case, o *op.Op, k Kernel, in []op.Tensor, parts []int) error {
	want := blank(o.Out)
	var spec []op.Array
	for _, x := range in {
		spec = append(spec, NewArray(x))
	}
	o.Ref(want, spec)
	out, after, err := k.run(plain(in))
	if err != nil {
		return err
	}
	tol, why := m.rounding().tolerance(c)
	compare := func(what string, got op.Tensor, of op.DType, want op.Array) error {
		b := bound{tol: tol, size: c.Size}
		if of == op.Float16 && tol > 0 {
			b.unit = halfUnit
		}
		a := NewArray(got)
		err := b.check(a.Data, want.Data)
		if !slices.Equal(a.Ints, want.Ints) {
			err = fmt.Errorf("integers are %v, want %v", a.Ints, want.Ints)
		}
		if err != nil {
			return fmt.Errorf("%s: %w: the tolerance is for %s", what, err, why)
		}
		return nil
	}
	var checks []error
	if len(parts) == 0 {
		checks = append(checks, compare("result", out, k.Out, want))
	}
	if k.Parts != nil && !slices.EqualFunc(k.Parts, parts, func(p op.Part, n int) bool { return p.Elements == n }) {
		return fmt.Errorf("the parts of the result are %v, what is unpacked has %v elements", k.Parts, parts)
	}
	at := 0
	for i, n := range parts {
		of := k.Out
		if k.Parts != nil && k.Parts[i].Half && m.rounding().half {
			of = op.Float16
		}
		checks = append(checks, compare(fmt.Sprint("part ", i, " of the result"), op.Tensor{Data: out.Data[at:][:n]}, of, op.Array{Data: want.Data[at:][:n]}))
		at += n
	}
	for _, i := range o.Updates {
		checks = append(checks, compare(fmt.Sprintf("input %d, which is updated", i), after[i], k.In[i], spec[i]))
	}
	return errors.Join(checks...)
}

package optest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"konkanitrain/op"
)

// checkMade compares an op that is made outside of graphs with its specification.
func checkMade(target op.Target, c Case) error {
	o := c.Make()
	if len(c.In) != len(o.In) {
		return fmt.Errorf("%v: the case has %d operands, the op %d", o, len(c.In), len(o.In))
	}
	k, err := o.Kernel(target)
	if err != nil {
		return err
	}
	blas, want := op.NewBLAS(), blank(o.Out)
	var spec []op.Array
	var operands []op.Tensor
	for i, a := range c.In {
		spec = append(spec, op.Array{Data: slices.Clone(a.Data), Ints: a.Ints, Shape: a.Shape})
		operands = append(operands, NewTensor(o.In[i], a))
	}
	o.Ref(want, spec)
	got, in := dirty(o.Out), clones(operands)
	k.Run(NewEnv(blas, k), got, in)
	results, wants := []op.Array{NewArray(got)}, []op.Array{want}
	for _, i := range o.Updates {
		results, wants = append(results, NewArray(in[i])), append(wants, spec[i])
	}
	for i, w := range wants {
		err := closeTo(results[i].Data, w.Data, c.Tol, c.Size)
		if !slices.Equal(results[i].Ints, w.Ints) {
			err = fmt.Errorf("integers are %v, want %v", results[i].Ints, w.Ints)
		}
		if err != nil {
			what := "result"
			if i > 0 {
				what = fmt.Sprintf("input %d, which is updated", o.Updates[i-1])
			}
			return fmt.Errorf("%v: %s: %w: the tolerance is for %s", o, what, err, c.Why)
		}
	}
	return checkKernel(blas, target, o, operands)
}

// checkKernel holds a kernel to what it says about itself: the same result to the last bit in the memory of each of its
// InPlace inputs, and wherever scratch begins; no input changed but those of Updates; a sum where it Accumulates; and
// no allocation.
func checkKernel(blas op.BLAS, target op.Target, o *op.Op, operands []op.Tensor) error {
	k, err := o.Kernel(target)
	if err != nil {
		return err
	}
	want, after := dirty(o.Out), clones(operands)
	k.Run(NewEnv(blas, k), want, after)
	checks := []error{checkInputs(o, operands, after, -1)}
	for _, i := range k.InPlace {
		in := clones(operands)
		if o.In[i].Of != o.Out.Of || o.In[i].Elements() != o.Out.Elements() {
			return fmt.Errorf("in place of input %d, which has another type", i)
		}
		out := in[i]
		out.Shape = o.Out.Shape
		k.Run(NewEnv(blas, k), out, in)
		if err := Same(out, want); err != nil {
			checks = append(checks, fmt.Errorf("in place of input %d: %w", i, err))
		}
		checks = append(checks, checkInputs(o, after, in, i))
	}
	for skip := 1; skip < 4 && k.Scratch > 0; skip++ { // the tape's scratch may start at any float32
		out, env := dirty(o.Out), NewEnv(blas, k)
		env.Scratch = append(nans(skip), env.Scratch...)[skip:]
		k.Run(env, out, clones(operands))
		if err := Same(out, want); err != nil {
			checks = append(checks, fmt.Errorf("scratch that starts %d floats later: %w", skip, err))
		}
	}
	if k.Accumulates {
		checks = append(checks, checkAccumulates(blas, k, operands, want))
	}
	env, out, in := NewEnv(blas, k), clone(want), clones(operands)
	if n := testing.AllocsPerRun(3, func() { k.Run(env, out, in) }); n > 0 {
		checks = append(checks, fmt.Errorf("%v allocations in a run", n))
	}
	return errors.Join(checks...)
}

// checkInputs compares inputs before and after a run, except the one in whose place the result is. Updated inputs are
// compared only if before has them updated as well.
func checkInputs(o *op.Op, before, after []op.Tensor, place int) error {
	for i := range after {
		if i == place || place < 0 && slices.Contains(o.Updates, i) {
			continue
		}
		if err := Same(after[i], before[i]); err != nil {
			return fmt.Errorf("input %d is not what it should be after the run: %w", i, err)
		}
	}
	return nil
}

// checkAccumulates runs the kernel on top of 3.
func checkAccumulates(blas op.BLAS, k op.Kernel, operands []op.Tensor, want op.Tensor) error {
	sum := NewArray(want)
	for i := range sum.Data {
		sum.Data[i] += 3
	}
	out := clone(want)
	for i := range out.Data {
		out.Data[i] = 3
	}
	env := NewEnv(blas, k)
	env.Add = true
	k.Run(env, out, clones(operands))
	// Up to 70 rows are added to the 3 one by one, each sum rounded by up to 6e-8 of it: 2.2e-7 in all.
	if err := Close(NewArray(out).Data, sum.Data, 4e-7); err != nil {
		return fmt.Errorf("adding: %w", err)
	}
	return nil
}

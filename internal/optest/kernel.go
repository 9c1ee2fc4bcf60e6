package optest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"konkanitrain/op"
)

// checkMade compares an op that is made outside of graphs with its specification.
func checkMade(m Machine, c Case) error {
	o := c.Make()
	if len(c.In) != len(o.In) {
		return fmt.Errorf("%v: the case has %d operands, the op %d", o, len(c.In), len(o.In))
	}
	var operands []op.Tensor
	for i, a := range c.In {
		operands = append(operands, NewTensor(o.In[i], a))
	}
	return checkOp(m, c, o, operands, nil)
}

// checkKernel holds a kernel to what it says about itself: the same result to the last bit in the memory of each of its
// InPlace inputs; no input changed but those of Updates; and a sum where it Accumulates.
func checkKernel(o *op.Op, k Kernel, in []op.Tensor) error {
	want, after, err := k.run(plain(in))
	if err != nil {
		return err
	}
	checks := []error{checkInputs(o, in, after, -1)}
	for _, i := range k.InPlace {
		if k.In[i] != k.Out || o.In[i].Elements() != o.Out.Elements() {
			return fmt.Errorf("in place of input %d, which has another type", i)
		}
		out, rest, err := k.run(run{in: in, place: i})
		if err == nil {
			err = errors.Join(Same(out, want), checkInputs(o, after, rest, i))
		}
		if err != nil {
			checks = append(checks, fmt.Errorf("in place of input %d: %w", i, err))
		}
	}
	if k.Accumulates {
		checks = append(checks, checkAccumulates(k, in, want))
	}
	return errors.Join(checks...)
}

// check looks for what only a kernel of the processor promises: scratch may begin at any float32, as the tape's does,
// and a run allocates nothing.
func (m cpu) check(o *op.Op, k Kernel, in []op.Tensor) error {
	want, _, err := k.run(plain(in))
	if err != nil {
		return err
	}
	var checks []error
	for skip := 1; skip < 4 && k.Scratch > 0; skip++ {
		out, env := dirty(o.Out), NewEnv(m.blas, k.Kernel)
		env.Scratch = append(nans(skip), env.Scratch...)[skip:]
		k.Run(env, out, clones(in))
		if err := Same(out, want); err != nil {
			checks = append(checks, fmt.Errorf("scratch that starts %d floats later: %w", skip, err))
		}
	}
	env, out, in := NewEnv(m.blas, k.Kernel), clone(want), clones(in)
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
func checkAccumulates(k Kernel, in []op.Tensor, want op.Tensor) error {
	sum, three := NewArray(want), NewArray(want)
	for i := range sum.Data {
		sum.Data[i] += 3
		three.Data[i] = 3
	}
	base := NewTensor(op.Type{Shape: want.Shape, Of: k.Out}, three)
	out, _, err := k.run(run{in: in, place: -1, onto: &base})
	if err != nil {
		return err
	}
	// Up to 70 rows are added to the 3 one by one, each sum rounded by up to 6e-8 of it: 2.2e-7 in all.
	b := bound{tol: 4e-7}
	if k.Out == op.Float16 { // want is rounded, and so is the sum, which may be much smaller
		b.tol, b.unit = b.tol+halfUnit, halfUnit
		for _, v := range NewArray(want).Data {
			b.size = max(b.size, 3, math.Abs(v))
		}
	}
	if err := b.check(NewArray(out).Data, sum.Data); err != nil {
		return fmt.Errorf("adding: %w", err)
	}
	return nil
}

package engine

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"konkanitrain/op"
)

// breakDown makes the kernel of an op for flat buffers panic on the n-th piece that it is given.
func breakDown(c *Crew[variant], name string, n int32) {
	var calls atomic.Int32
	for key, kernel := range c.kernels {
		if key.name != name {
			continue
		}
		run := kernel.Run
		kernel.Run = func(e *op.Env, out op.Tensor, in []op.Tensor) {
			if calls.Add(1) == n {
				panic("the kernel broke")
			}
			run(e, out, in)
		}
		c.kernels[key] = kernel
	}
}

// A worker that breaks down while weights are changed leaves them half changed: from then on the replica hands nothing
// out and takes nothing in. One that breaks down elsewhere leaves the replica as it was.
func TestBreakdownInAnUpdate(t *testing.T) {
	step := AdamW{Number: 1, LR: 1e-3, GradScale: 1}
	ready := func() *Crew[variant] {
		c := crew(t, newTestNet(tiny(4, 0)), 2, true)
		pass(t, c, deal(short, 4, 2))
		if _, err := c.Reduce(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for what, broken := range map[string]func(c *Crew[variant]) error{
		"update": func(c *Crew[variant]) error {
			if err := c.kernels.prepare("adamw", 0, c.pieces.tensors, op.NewAdamW); err != nil {
				t.Fatal(err)
			}
			breakDown(c, "adamw", 3)
			return c.Update(step)
		},
		"mean": func(c *Crew[variant]) error {
			if err := c.kernels.prepare("mean.add", 0, c.pieces.buffer, op.NewMeanAdd); err != nil {
				t.Fatal(err)
			}
			breakDown(c, "mean.add", 1)
			_, err := c.Mean(1, func(int) error { return nil })
			return err
		},
		"end of a mean": func(c *Crew[variant]) error {
			err := c.kernels.prepare("mean.end", 1, c.pieces.buffer, func(n int) *op.Op { return op.NewMeanEnd(n, 1) })
			if err != nil {
				t.Fatal(err)
			}
			breakDown(c, "mean.end", 1)
			_, err = c.Mean(0, nil)
			return err
		},
	} {
		c := ready()
		err := broken(c)
		var typed *BrokenError
		if !errors.As(err, &typed) {
			t.Fatalf("%s: %v", what, err)
		}
		wants(t, what, err, "broke down: the kernel broke")
		name := c.net.Parameters()[0].Name
		later := deal(short, 2, 2)
		for use, err := range map[string]error{
			"Export": c.Export(Weights, name, io.Discard), "Import": c.Import(FirstMoments, name, strings.NewReader("")),
			"Initialize": c.Initialize(1), "Prepare": c.Prepare(later.Batches, 0), "Run": c.Run(&later.Pass), "Update": c.Update(step),
			"Finite": second(c.Finite()), "Reduce": second(c.Reduce()), "Mean": second(c.Mean(0, nil)),
		} {
			if !errors.As(err, &typed) && !(err != nil && use == "Update" && strings.Contains(err.Error(), "no gradient")) {
				t.Errorf("%s after a broken %s: %v", use, what, err)
			}
		}
	}
	for what, broken := range map[string]func(c *Crew[variant]) error{
		"reduce": func(c *Crew[variant]) error {
			pass(t, c, deal(short, 4, 2))
			breakDown(c, "reduce", 1)
			return second(c.Reduce())
		},
		"finite": func(c *Crew[variant]) error {
			if err := second(c.Finite()); err != nil {
				t.Fatal(err)
			}
			breakDown(c, "finite", 1)
			return second(c.Finite())
		},
	} {
		c := ready()
		err := broken(c)
		wants(t, what, err, "broke down: the kernel broke")
		if errors.As(err, new(*BrokenError)) {
			t.Errorf("%s changes no weight: %v", what, err)
		}
		if err := c.Export(Weights, c.net.Parameters()[0].Name, io.Discard); err != nil {
			t.Errorf("after a broken %s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

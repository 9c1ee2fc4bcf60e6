package optest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// checkGraph holds an op and its gradient to their specification, and that to finite differences.
func checkGraph(m Machine, c Case) error {
	r, err := NewRig(c.Build, c.In, nil, c.NoGradient...)
	if err != nil {
		return err
	}
	var checks []error
	for _, n := range r.ops() {
		operands, err := r.Run(m, op.Children(n)...)
		if err == nil {
			err = checkOp(m, c, n.Op().(*op.Op), operands, r.parts(n))
		}
		checks = append(checks, err)
	}
	if _, ok := m.(cpu); ok {
		checks = append(checks, r.finiteDifferences(), r.tape())
	}
	return errors.Join(checks...)
}

// parts are the lengths of what is taken out of the packed result of a node; nil for a result that is no pack.
func (r *Rig) parts(pack *G.Node) (lengths []int) {
	var views G.Nodes
	for _, n := range r.ops() {
		if o := n.Op().(*op.Op); o.View != nil && op.Children(n)[0] == pack {
			views = append(views, n)
		}
	}
	slices.SortFunc(views, func(a, b *G.Node) int { return a.Op().(*op.Op).View.Offset - b.Op().(*op.Op).View.Offset })
	for _, n := range views {
		lengths = append(lengths, op.Size(n.Shape()))
	}
	return lengths
}

// finiteDifferences compares each gradient of the specification with central differences in random directions. In
// float64 they are held to 1e-6 of the gradient's size: their own error is about 1e-9 for the smooth functions here.
func (r *Rig) finiteDifferences() error {
	const h = 1e-5
	random := Rand(5)
	loss := func() (float64, error) {
		out, err := r.Reference(r.Out)
		if err != nil {
			return 0, err
		}
		sum := 0.0
		for i, v := range out[0].Data {
			sum += v * r.Flow.Data[i]
		}
		return sum, nil
	}
	for i, n := range r.Wrt {
		grad, err := r.Reference(r.Grads[i])
		if err != nil {
			return err
		}
		base := r.Feeds[n]
		for range 3 {
			dir := Floats(random, base.Shape...)
			var at [2]float64
			for side, step := range []float64{h, -h} {
				moved := op.Array{Data: slices.Clone(base.Data), Shape: base.Shape}
				for j := range moved.Data {
					moved.Data[j] += step * dir.Data[j]
				}
				r.Feeds[n] = moved
				at[side], err = loss()
				r.Feeds[n] = base
				if err != nil {
					return err
				}
			}
			numeric := (at[0] - at[1]) / (2 * h)
			analytic, size := 0.0, 1e-12
			for j, v := range grad[0].Data {
				analytic += v * dir.Data[j]
				size += math.Abs(v * dir.Data[j])
			}
			if d := math.Abs(numeric - analytic); !(d <= 1e-6*max(size, 1e-3)) {
				return fmt.Errorf("gradient of input %s: finite differences give %g, the specification %g", n.Name(), numeric, analytic)
			}
		}
	}
	return nil
}

// tape runs the graph on Gorgonia's stock machine: the same kernels, with gonum's products.
func (r *Rig) tape() error {
	want, err := r.Run(CPU(), r.Grads...)
	if err != nil {
		return err
	}
	for n, a := range r.Feeds {
		v := NewTensor(op.Type{Shape: a.Shape, Of: elements(a)}, a)
		var backing any = v.Data
		if v.Ints != nil {
			backing = v.Ints
		}
		if err := G.Let(n, tensor.New(tensor.WithShape(a.Shape...), tensor.WithBacking(backing))); err != nil {
			return err
		}
	}
	if err := uniqueHashes(r.Graph); err != nil {
		return err
	}
	m := G.NewTapeMachine(r.Graph.ExprGraph)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		return fmt.Errorf("tape: %w", err)
	}
	for i, n := range r.Grads {
		got, err := op.FromValue(n.Value())
		if err == nil {
			err = Close(NewArray(got).Data, NewArray(want[i]).Data, 1e-5) // two orders of summation in float32
		}
		if err != nil {
			return fmt.Errorf("tape: %v: %w", n.Op(), err)
		}
	}
	return nil
}

// uniqueHashes says whether Gorgonia's own machines may run the graph: they know nodes by their 32-bit hash, and would
// compute one of two nodes that share it. In a graph of 1600 nodes that happens once in some 3000 shapes. Our engine
// knows nodes by identity and doesn't care; wrong merges while a graph is built are caught by package op.
func uniqueHashes(g *op.Graph) error {
	owners := make(map[uint32]*G.Node, len(g.AllNodes()))
	for _, n := range g.AllNodes() {
		hash := n.Hashcode()
		if owner, taken := owners[hash]; taken {
			return fmt.Errorf("hash %#08x is that of node %d, %v, and of node %d, %v", hash, owner.ID(), owner, n.ID(), n)
		}
		owners[hash] = n
	}
	return nil
}

package optest

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/op"
)

// Reference computes nodes in float64 by the specifications (Op.Ref), without any engine: feeds gives the
// values of the graph's inputs. It is what engines are held to; slow, and obvious.
func Reference(feeds map[*G.Node]op.Array, nodes ...*G.Node) ([]op.Array, error) {
	done := map[*G.Node]op.Array{}
	var eval func(n *G.Node) (op.Array, error)
	eval = func(n *G.Node) (op.Array, error) {
		if a, ok := done[n]; ok {
			return a, nil
		}
		a, ok := feeds[n]
		if !ok {
			var in []op.Array
			for _, c := range op.Children(n) {
				v, err := eval(c)
				if err != nil {
					return a, err
				}
				in = append(in, v)
			}
			a = op.Array{Data: make([]float64, op.Size(n.Shape())), Shape: n.Shape()}
			if err := referenceOp(n, a, in); err != nil {
				return a, err
			}
		}
		done[n] = a
		return a, nil
	}
	out := make([]op.Array, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = eval(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func referenceOp(n *G.Node, out op.Array, in []op.Array) error {
	switch o := n.Op().(type) {
	case *op.Op:
		o.Ref(out, in)
		return nil
	case nil:
		return fmt.Errorf("input %s has no value among the feeds", n.Name())
	default:
		if len(in) == 0 && n.Value() != nil { // the constant 1 that seeds Grad
			t, err := op.FromValue(n.Value())
			if err != nil {
				return err
			}
			for i, v := range t.Data {
				out.Data[i] = float64(v)
			}
			return nil
		}
		if !op.IsSum(o) {
			return fmt.Errorf("%v (%T) has no specification: only ops of package op have one", o, o)
		}
		copy(out.Data, in[0].Data)
		for i, v := range in[1].Data {
			out.Data[i] += v
		}
		return nil
	}
}

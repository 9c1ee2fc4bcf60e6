package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/internal/onnx"
)

// An ONNX graph is a target of another kind: it is not run here, but by other programs, on batches of any size and
// length. So what an op writes there holds nothing of the shapes that it was made for but what the weights' shapes say:
// one graph is the same whatever batch it was built for. Only ops of recognition have this form.

// portable is a family that other runtimes can compute.
type portable interface {
	// onnx adds the op's nodes on operands, which are named in the op's order, and gives the result's name. Lengths are
	// int64 there.
	onnx(b *onnx.Builder, in []string) string
}

// ONNX adds nodes that compute o on operands to a graph, and gives the result's name. The error says that o has no such
// form: losses, gradients and dropout have none.
func (o *Op) ONNX(b *onnx.Builder, in []string) (string, error) {
	f, ok := o.family.(portable)
	for _, t := range o.In {
		ok = ok && (t.Of != Int32 || t.Shape.Dims() == 1) // seeds are [B, 2]
	}
	if !ok {
		return "", fmt.Errorf("%v can't be written as ONNX: only ops of recognition can", o)
	}
	b.At(o.Place)
	defer b.At("")
	return f.onnx(b, in), nil
}

// ONNX adds all that out is computed from to b, and gives the name of out. named has the names of the graph's inputs.
func (g *Graph) ONNX(b *onnx.Builder, named map[*G.Node]string, out *G.Node) (string, error) {
	done := map[*G.Node]string{}
	var visit func(n *G.Node) (string, error)
	visit = func(n *G.Node) (string, error) {
		if name, ok := done[n]; ok {
			return name, nil
		}
		name, ok := named[n]
		if !ok {
			o, is := n.Op().(*Op)
			if !is {
				return "", fmt.Errorf("%v can't be written as ONNX: it is no op of this package, and has no name", n)
			}
			var in []string
			for _, c := range Children(n) {
				operand, err := visit(c)
				if err != nil {
					return "", err
				}
				in = append(in, operand)
			}
			var err error
			if name, err = o.ONNX(b, in); err != nil {
				return "", err
			}
		}
		done[n] = name
		return name, nil
	}
	return visit(out)
}

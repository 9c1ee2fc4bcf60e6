package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Gorgonia op has one result. A gradient with several comes packed as a vector from one backward op and is
// taken apart by unpack, which the engine turns into aliases (no copy) and the tape copies.

// View is where in the input a result lies: at Offset, with as many elements as its shape has.
type View struct{ Offset int }

// unpack is the part of packed that begins at offset: packed [P] -> shape.
func unpack(offset int, shape tensor.Shape) func(in []Type) (*Op, error) {
	return func(in []Type) (*Op, error) {
		if end := offset + Size(shape); len(in) != 1 || in[0].Shape.Dims() != 1 || end > in[0].Shape[0] {
			return nil, want("unpack", fmt.Sprintf("[P] with P of %d or more", end), in)
		}
		return &Op{
			Name: "unpack", Params: fmt.Sprint(offset), Out: shape.Clone(), View: &View{offset},
			Run: func(_ *Env, out Tensor, in []Tensor) { copy(out.Data, in[0].Data[offset:]) },
			Ref: func(out Array, in []Array) { copy(out.Data, in[0].Data[offset:]) },
		}, nil
	}
}

// unpackLike cuts packed into consecutive tensors with the shapes of like; a nil entry takes nothing and stays nil.
func (g *Graph) unpackLike(packed *G.Node, like ...*G.Node) G.Nodes {
	parts := make(G.Nodes, len(like))
	offset := 0
	for i, n := range like {
		if n != nil {
			parts[i] = g.add(unpack(offset, n.Shape()), packed)
			offset += Size(n.Shape())
		}
	}
	return parts
}
